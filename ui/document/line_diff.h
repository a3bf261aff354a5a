// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <QStringList>

#include <vector>

namespace spanscope::document {

enum class LineChange { Same, Removed, Added };

struct DiffLine {
  LineChange change = LineChange::Same;
  QString text;
  bool operator==(const DiffLine&) const = default;
};

/// The lines that are the same, removed or added between `before` and `after`, with as few removed and added
/// lines as possible. If that would take more than 2000 of them, the whole differing middle is removed and
/// added.
std::vector<DiffLine> diffLines(const QStringList& before, const QStringList& after);

}  // namespace spanscope::document
