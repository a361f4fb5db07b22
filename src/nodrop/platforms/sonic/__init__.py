"""SONiC: config_db.json and, for routing, frr.conf in mode split-unified."""
