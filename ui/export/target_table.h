// SPDX-License-Identifier: GPL-3.0-or-later
// The targets of the export dialog as a person sees them.
#pragma once

#include "ui/export/query_export.h"

#include <QString>

namespace spanscope::ui {

struct TargetInfo {
  ExportTarget target = ExportTarget::Json;
  QString title;        ///< in the list
  QString explanation;  ///< who takes it, in a sentence or two
  QString suffix;       ///< of a file, with its dot
  bool isJson = false;  ///< the text is JSON, or lines of it
};

TargetInfo targetInfo(ExportTarget target);

}  // namespace spanscope::ui
