"""Speed and size of dshweb as ratios to named peers measured in the same run. `python -m bench` prints one table."""
