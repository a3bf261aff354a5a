// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <QStringList>

#include <vector>

namespace spanscope::ui {

enum class LineChange { Same, Removed, Added };

struct DiffLine {
  LineChange change = LineChange::Same;
  QString text;
  bool operator==(const DiffLine&) const = default;
};

/// The lines of `before` and `after`, each kept, removed or added, with as few changes as possible
/// (engine/base/difference.h).
std::vector<DiffLine> diffLines(const QStringList& before, const QStringList& after);

}  // namespace spanscope::ui
