// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/document/line_diff.h"

#include <algorithm>
#include <utility>

namespace spanscope::document {
namespace {

/// Lines removed and added together: time and memory of the search grow with the square of it.
constexpr qsizetype kMostChanges = 2000;

/// Myers' search: for each number of changes, how far each diagonal gets. Nothing if there are too many.
std::vector<std::vector<qsizetype>> searchPaths(const QStringList& a, const QStringList& b) {
  const qsizetype most = std::min(a.size() + b.size(), kMostChanges);
  std::vector<std::vector<qsizetype>> paths;
  std::vector<qsizetype> reach(static_cast<std::size_t>(2 * most + 3), 0);
  const auto at = [&reach, most](qsizetype diagonal) -> qsizetype& {
    return reach[static_cast<std::size_t>(diagonal + most + 1)];
  };
  for (qsizetype changes = 0; changes <= most; ++changes) {
    // Only diagonals that were reached before are looked up on the way back.
    paths.emplace_back(reach.begin() + (most + 1 - changes), reach.begin() + (most + 2 + changes));
    for (qsizetype k = -changes; k <= changes; k += 2) {
      const bool down = k == -changes || (k != changes && at(k - 1) < at(k + 1));
      qsizetype x = down ? at(k + 1) : at(k - 1) + 1;
      qsizetype y = x - k;
      while (x < a.size() && y < b.size() && a[x] == b[y]) {
        ++x;
        ++y;
      }
      at(k) = x;
      if (x >= a.size() && y >= b.size()) return paths;
    }
  }
  return {};
}

void addAll(std::vector<DiffLine>& into, const QStringList& lines, LineChange change) {
  for (const QString& line : lines) into.push_back({change, line});
}

std::vector<DiffLine> diffMiddle(const QStringList& a, const QStringList& b) {
  std::vector<DiffLine> lines;
  const std::vector<std::vector<qsizetype>> paths = searchPaths(a, b);
  if (paths.empty()) {
    addAll(lines, a, LineChange::Removed);
    addAll(lines, b, LineChange::Added);
    return lines;
  }
  qsizetype x = a.size();
  qsizetype y = b.size();
  for (auto changes = static_cast<qsizetype>(paths.size()) - 1; changes >= 0; --changes) {
    const std::vector<qsizetype>& reach = paths[static_cast<std::size_t>(changes)];
    // Row `changes` keeps the diagonals −changes … changes as the step before left them.
    const auto at = [&reach, changes](qsizetype diagonal) {
      return reach[static_cast<std::size_t>(diagonal + changes)];
    };
    const qsizetype k = x - y;
    const bool isFirst = changes == 0;
    const bool down = !isFirst && (k == -changes || (k != changes && at(k - 1) < at(k + 1)));
    const qsizetype fromX = isFirst ? 0 : (down ? at(k + 1) : at(k - 1));
    const qsizetype fromY = isFirst ? 0 : fromX - (down ? k + 1 : k - 1);
    while (x > fromX && y > fromY) {
      lines.push_back({LineChange::Same, a[x - 1]});
      --x;
      --y;
    }
    if (isFirst) break;
    if (down)
      lines.push_back({LineChange::Added, b[--y]});
    else
      lines.push_back({LineChange::Removed, a[--x]});
  }
  std::reverse(lines.begin(), lines.end());
  return lines;
}

}  // namespace

std::vector<DiffLine> diffLines(const QStringList& before, const QStringList& after) {
  qsizetype head = 0;
  const qsizetype shorter = std::min(before.size(), after.size());
  while (head < shorter && before[head] == after[head]) ++head;
  qsizetype tail = 0;
  while (tail < shorter - head && before[before.size() - 1 - tail] == after[after.size() - 1 - tail]) ++tail;

  std::vector<DiffLine> lines;
  addAll(lines, before.mid(0, head), LineChange::Same);
  const std::vector<DiffLine> middle =
      diffMiddle(before.mid(head, before.size() - head - tail), after.mid(head, after.size() - head - tail));
  lines.insert(lines.end(), middle.begin(), middle.end());
  addAll(lines, before.mid(before.size() - tail), LineChange::Same);
  return lines;
}

}  // namespace spanscope::document
