// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/document/line_diff.h"

#include "engine/base/difference.h"

#include <cstddef>

namespace spanscope::ui {

std::vector<DiffLine> diffLines(const QStringList& before, const QStringList& after) {
  const auto at = [](const QStringList& lines, std::size_t index) -> const QString& {
    return lines[static_cast<qsizetype>(index)];
  };
  std::vector<DiffLine> lines;
  for (const DifferenceStep& step :
       differenceOf(static_cast<std::size_t>(before.size()), static_cast<std::size_t>(after.size()),
                    [&](std::size_t i, std::size_t j) { return at(before, i) == at(after, j); })) {
    switch (step.on) {
      case StandsOn::Both:
        lines.push_back({LineChange::Same, at(before, step.left)});
        break;
      case StandsOn::Left:
        lines.push_back({LineChange::Removed, at(before, step.left)});
        break;
      case StandsOn::Right:
        lines.push_back({LineChange::Added, at(after, step.right)});
        break;
    }
  }
  return lines;
}

}  // namespace spanscope::ui
