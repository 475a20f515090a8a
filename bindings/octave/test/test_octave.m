% test_octave FOLDER: the oct-files there, against those of the image package and, where it has none or takes two dimensions
% only, against brute force.
1;

function check (right, what)
  global failures
  if (! right)
    failures += 1;
    fprintf (stderr, "FAILED: %s\n", what);
  endif
endfunction

function check_error (call, message)
  try
    eval (call);
    check (false, [call ": no error"]);
  catch e
    check (strncmp (e.message, message, length (message)), [call ": " e.message]);
  end_try_catch
endfunction

% Every distance to every element, the least of them, and the first index that has it.
function [dist, idx] = brute (bw, measure)
  dist = inf (size (bw)); idx = zeros (size (bw));
  [x, y, z] = ind2sub (size (bw), reshape (1:numel (bw), size (bw)));
  for i = find (bw)(:)'
    d = sort (abs (cat (4, x - x(i), y - y(i), z - z(i))), 4, "descend");
    switch (measure)
      case "euclidean",  d = sumsq (d, 4);
      case "cityblock",  d = sum (d, 4);
      case "chessboard", d = d(:,:,:,1);
      otherwise          d = d(:,:,:,1) + (sqrt (2) - 1) * d(:,:,:,2) + (sqrt (3) - sqrt (2)) * d(:,:,:,3);
    endswitch
    nearer = d < dist;
    dist(nearer) = d(nearer); idx(nearer) = i;
  endfor
  if (strcmp (measure, "euclidean")) dist = sqrt (dist); endif
endfunction

% Lengths go from neighbour to neighbour until none gets shorter.
function dist = brute_geodesic (bw, seeds, measure)
  dist = inf (size (bw)); dist(bw & seeds) = 0;
  grown = inf (size (bw, 1) + 2, size (bw, 2) + 2, size (bw, 3) + 2);
  do
    before = dist;
    for k = 0:26
      step = [mod(k, 3), mod(floor (k / 3), 3), floor(k / 9)];
      axes = sum (step != 1);
      if (axes == 0 || (strcmp (measure, "cityblock") && axes > 1)) continue; endif
      if (strcmp (measure, "quasi-euclidean")) cost = sqrt (axes); else cost = 1; endif
      grown(2:end-1, 2:end-1, 2:end-1) = dist;
      dist = min (dist, cost + grown(step(1) + (1:size (bw, 1)), step(2) + (1:size (bw, 2)), step(3) + (1:size (bw, 3))));
      dist(! bw) = inf;
    endfor
  until (isequal (dist, before))
  dist(! bw) = NaN;
endfunction

function close = near (a, b)  % as classes of the precision of the first one
  a = double (a); b = double (b);
  same = a == b | (isnan (a) & isnan (b));
  close = size_equal (a, b) && all (same(:) | abs (a(:) - b(:)) <= eps ("single") * abs (b(:)));
endfunction

global failures = 0;
rand ("twister", 5);
methods = {"euclidean", "cityblock", "chessboard", "quasi-euclidean"};
pkg load image

% What the image package says, before apsis is on the path.
planes = {rand(40, 57) < .02, rand(57, 40) < .5, rand(1, 30) < .1, rand(30, 1) < .1, true, rand(64) > .02, zeros(9, 8), ...
          rand(120) < .001};
volumes = {rand(12, 9, 10) < .3, rand(9, 20, 5) < .6, rand(7, 7, 7) < .05};
conns = {4, 8, conndef(2, "minimal"), ones(3)};
conns3 = [conns, {6, 18, 26, conndef(3, "minimal"), ones(3, 3, 3)}];
old_which = which ("bwdist");
for i = 1:numel (planes)
  for j = 1:4 [was.dist{i,j}, was.idx{i,j}] = bwdist (planes{i}, methods{j}); endfor
  for j = 1:numel (conns) [was.l{i,j}, was.n(i,j)] = bwlabeln (planes{i}, conns{j}); endfor
  was.plain{i} = bwlabeln (planes{i});
endfor
for i = 1:numel (volumes)
  for j = 1:numel (conns3) [was.l3{i,j}, was.n3(i,j)] = bwlabeln (volumes{i}, conns3{j}); endfor
  was.plain3{i} = bwlabeln (volumes{i});
endfor

addpath (argv (){1});
check (! strcmp (which ("bwdist"), old_which), "apsis goes before a package that was loaded first");
pkg unload image
pkg load image
check (strncmp (which ("bwdist"), argv (){1}, length (argv (){1})), "and before one that is loaded afterwards");

for i = 1:numel (planes)
  for j = 1:4
    [dist, idx] = bwdist (planes{i}, methods{j});
    what = sprintf ("bwdist, plane %d, %s", i, methods{j});
    if (j < 4) check (isequal (dist, was.dist{i,j}), what); else check (near (dist, was.dist{i,j}), what); endif
    check (isa (dist, "single") && isa (idx, "uint32"), what);
    [expected, first] = brute (planes{i}, methods{j});
    check (near (dist, expected), [what ", brute"]);
    if (j < 4) check (isequal (double (idx), first), [what ", indices"]); endif
  endfor
  check (isequal (bwdist (planes{i}), was.dist{i,1}), "the default is Euclidean");
  for j = 1:numel (conns)
    [l, n] = bwlabeln (planes{i}, conns{j});
    what = sprintf ("bwlabeln, plane %d, %d", i, j);
    check (isequal (l, by_first (was.l{i,j})) && n == was.n(i,j) && isa (l, "double"), what);
  endfor
  check (isequal (bwlabeln (planes{i}), by_first (was.plain{i})), "bwlabeln of planes, default");
endfor
for i = 1:numel (volumes)
  for j = 1:4
    [dist, idx] = bwdist (volumes{i}, methods{j});
    [expected, first] = brute (volumes{i}, methods{j});
    what = sprintf ("bwdist, volume %d, %s", i, methods{j});
    check (near (dist, expected), what);
    if (j < 4) check (isequal (double (idx), first), [what ", indices"]); endif
  endfor
  for j = 1:numel (conns3)
    [l, n] = bwlabeln (volumes{i}, conns3{j});
    check (isequal (l, by_first (was.l3{i,j})) && n == was.n3(i,j), sprintf ("bwlabeln, volume %d, %d", i, j));
  endfor
  check (isequal (bwlabeln (volumes{i}), by_first (was.plain3{i})), "bwlabeln of volumes, default");
endfor

% Paths.
for bw = {rand(30, 41) < .7, rand(9, 10, 8) < .5, true(5, 1), false(3)}
  seeds = rand (size (bw{1})) < .02; seeds(1) = true;
  for j = 2:4
    what = sprintf ("bwdistgeodesic, %s", methods{j});
    dist = bwdistgeodesic (bw{1}, seeds, methods{j});
    check (isa (dist, "single") && near (dist, brute_geodesic (bw{1}, seeds, methods{j})), what);
    check (isequaln (bwdistgeodesic (bw{1}, find (seeds), methods{j}), dist), [what ", IND"]);
    if (ndims (seeds) == 2)
      [r, c] = find (seeds);
      check (isequaln (bwdistgeodesic (bw{1}, c, r, methods{j}), dist), [what ", C and R"]);
    endif
  endfor
  check (isequaln (bwdistgeodesic (bw{1}, seeds), bwdistgeodesic (bw{1}, seeds, "chessboard")), "chessboard is the default");
endfor

% What BW may be.
check (isequal (bwdist ([3 0 0 -1]), single ([0 1 1 0])), "numbers");
check (isequal (bwdist (sparse ([0 0 1])), single ([2 1 0])), "sparse");
check (isequal (size (bwdist (zeros (0, 3))), [0 3]), "empty");
[l, n] = bwlabeln (zeros (0, 3));
check (isequal (size (l), [0 3]) && n == 0, "empty, labels");
check (isequal (bwlabeln (ones (3), 26), ones (3)), "neighbours of three dimensions in two");

% What it may not.
check_error ("bwdist ()", "Invalid call to bwdist");
check_error ("bwdist (1, 2, 3)", "Invalid call to bwdist");
check_error ("bwdist (eye (3), 'manhattan')", "bwdist: unknown METHOD 'manhattan'");
check_error ("bwdist (eye (3), 1)", "bwdist: METHOD must be a string");
check_error ("bwdist ({})", "bwdist: BW must be a numeric or logical array");
check_error ("bwdist ([NaN 0])", "invalid conversion from NaN to logical");
check_error ("bwdist (ones (2, 2, 2, 2))", "bwdist: BW must have at most three dimensions");
check_error ("bwlabeln ()", "Invalid call to bwlabeln");
check_error ("bwlabeln (1, 5)", "bwlabeln: CONN must be 4, 6, 8, 18 or 26");
check_error ("bwlabeln (1, [1 1 0; 1 1 1; 0 1 1])", "bwlabeln: CONN must be 4, 6, 8, 18 or 26");
check_error ("bwlabeln (1, 'a')", "bwlabeln: CONN must either be a logical array or a numeric scalar");
check_error ("bwlabeln ('a')", "bwlabeln: BW must be a numeric or logical array");
check_error ("bwdistgeodesic (1)", "Invalid call to bwdistgeodesic");
check_error ("bwdistgeodesic (1, 'chessboard')", "Invalid call to bwdistgeodesic");
check_error ("bwdistgeodesic (ones (3), true)", "bwdistgeodesic: MASK must have the size of BW");
check_error ("bwdistgeodesic (ones (3), 10)", "bwdistgeodesic: seed locations must be positions in BW");
check_error ("bwdistgeodesic (ones (3), 1.5)", "bwdistgeodesic: seed locations must be positions in BW");
check_error ("bwdistgeodesic (ones (3), 1, 4)", "bwdistgeodesic: seed locations must be positions in BW");
check_error ("bwdistgeodesic (ones (3), [1 2], 1)", "bwdistgeodesic: C and R must be of equal length");
check_error ("bwdistgeodesic (ones (3), 1, 'euclidean')", "bwdistgeodesic: unknown METHOD 'euclidean'");

printf ("%d failures\n", failures);
exit (failures != 0);
