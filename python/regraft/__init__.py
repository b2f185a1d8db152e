"""regraft in Python: timing what onnxruntime runs. Importing this loads nothing else."""
