% compare_octave FOLDER [SIDE]: the functions of the image package beside the oct-files in the folder: milliseconds (the least
% of three), and where the two differ, by more than a thousandth, numbers of components apart.  Which of the two is wrong is
% seen on small discs, where there is brute force.
1;

function [ms, out] = timed (call)
  ms = Inf;
  for i = 1:3
    start = tic; out = call (); ms = min (ms, 1e3 * toc (start));
  endfor
endfunction

function dist = brute (bw)  % the least over rows, of each column, and then over columns
  side = rows (bw);
  squares = ((1:side)' - (1:side)) .^ 2;
  column = Inf (side); dist = Inf (side);
  for j = 1:side
    if (any (bw(:,j))) column(:,j) = min (squares(:, bw(:,j)), [], 2); endif
  endfor
  for j = 1:side
    dist(:,j) = min (column + squares(j,:), [], 2);
  endfor
  dist = sqrt (dist);
endfunction

addpath (fileparts (mfilename ("fullpath")));  % by_first
folder = argv (){1}; side = 4096;
if (numel (argv ()) > 1) side = str2double (argv (){2}); endif
rand ("twister", 1);
pkg load image
outside = @(side, x, y, r) ((1:side)' - x) .^ 2 + ((1:side) - y) .^ 2 > r ^ 2;
small = arrayfun (@(i) outside (256, 100 + 56 * rand (), 100 + 56 * rand (), 120 * rand ()), 1:100, "uniformoutput", false);
exact = cellfun (@brute, small, "uniformoutput", false);
names = {"noise 1 %", "noise 50 %", "disc"};
images = {rand(side) < .01, rand(side) < .5, outside(side, side / 2, side / 2, side * .45)};
calls = {"bwdist", @(bw) bwdist(bw); "bwdist, quasi-euclidean", @(bw) bwdist(bw, "quasi-euclidean"); ...
         "bwdist, cityblock", @(bw) bwdist(bw, "cityblock"); "bwlabeln, 8", @(bw) bwlabeln(bw, 8)};

function errors = wrong (small, exact)
  errors = sum (cellfun (@(bw, dist) sum (! (abs (double (bwdist (bw)) - dist)(:) <= 1e-3)), small, exact));
endfunction

function report (calls, images, names, old)
  for i = 1:numel (images)
    for j = 1:rows (calls)
      [ms, out] = timed (@() calls{j,2} (images{i}));
      if (isempty (old))
        assignin ("base", sprintf ("ms_%d_%d", i, j), ms); assignin ("base", sprintf ("out_%d_%d", i, j), out);
      else
        if (j == rows (calls)) out = by_first (out); endif
        before = evalin ("base", sprintf ("ms_%d_%d", i, j)); was = evalin ("base", sprintf ("out_%d_%d", i, j));
        if (j == rows (calls)) was = by_first (was); endif
        printf ("| %s | %s | %.0f | %.0f | %.1f | %d |\n", names{i}, calls{j,1}, before, ms, before / ms, ...
                sum ((abs (double (was) - double (out)) > 1e-3)(:)));
      endif
    endfor
  endfor
endfunction

report (calls, images, names, "");
before = wrong (small, exact);
addpath (folder);
printf ("%d x %d\n| image | function | Octave ms | apsis ms | ratio | differ |\n|---|---|---|---|---|---|\n", side, side);
report (calls, images, names, "old");
printf ("bwdist of discs, wrong of %d: %d before, %d after\n", 100 * 256^2, before, wrong (small, exact));
