"""What figures call models and permutations."""

NAMES = {
    ("vit", "self"): "ViT",
    ("vit", "positional"): "positional ViT",
    ("cnn", "none"): "CNN",
    ("resnet18", "none"): "ResNet-18",
    ("vgg19_bn", "none"): "VGG-19-BN",
}
PERMUTATIONS = {"none": "original", "patch": "patches permuted", "pixel": "pixels permuted"}


def label(model: str, attention: str) -> str:
    """A model in words; one of the user's own by its class."""
    own = attention if model == "vit" else model
    return NAMES.get((model, attention), own.rpartition(":")[2])
