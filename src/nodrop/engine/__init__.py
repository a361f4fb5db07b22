"""Rules look at fabrics and give findings."""
