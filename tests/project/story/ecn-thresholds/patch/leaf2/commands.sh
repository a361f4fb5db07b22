sudo ecnconfig -p AZURE_LOSSLESS -gmax 2000000 -gmin 200000 -ymax 2000000 -ymin 200000 -rmax 2000000 -rmin 200000
