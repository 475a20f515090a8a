module apsis

go 1.19
