% The same parts, numbered by their first elements.
function l = by_first (l)
  [labels, first, which] = unique (l(:), "first");
  first(labels == 0) = 0;
  [~, order] = sort (first);
  rank(order) = (1:numel (order)) - any (labels == 0);
  l(:) = rank(which);
endfunction
