// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/query/diagnostic.h"

#include <QString>

#include <string>
#include <vector>

namespace spanscope::query::testing {

/// Each diagnostic on a line: "warning 1:1: …", or without "warning" for an error.
inline QString textOf(const std::vector<Diagnostic>& diagnostics) {
  std::string lines;
  for (const Diagnostic& diagnostic : diagnostics) {
    const std::string mark = diagnostic.severity == Severity::Warning ? "warning " : "";
    lines += mark + diagnostic.located({}) + "\n";
  }
  return QString::fromStdString(lines);
}

}  // namespace spanscope::query::testing
