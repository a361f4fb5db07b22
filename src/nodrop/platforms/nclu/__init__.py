"""NCLU, the commands of Cumulus Linux up to 4.4: `net add …`, read and never written."""
