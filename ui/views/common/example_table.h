// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include <vector>

namespace spanscope::ui {

/// A query that comes with the program.
struct Example {
  QString file;  ///< in resources/queries
  QString title;
  QString description;  ///< one line
};

/// All of them, the simplest first.
const std::vector<Example>& exampleTable();

}  // namespace spanscope::ui
