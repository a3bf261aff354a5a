// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include <vector>

namespace spanscope::ui {

/// An example query that is bundled with the program.
struct Example {
  QString file;  ///< file name in resources/queries
  QString title;
  QString description;  ///< one line
};

/// All example queries, the simplest first.
const std::vector<Example>& exampleTable();

}  // namespace spanscope::ui
