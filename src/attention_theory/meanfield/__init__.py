"""The study `meanfield`: large transformers and their continuous limit."""
