// SPDX-License-Identifier: GPL-3.0-or-later
// Reads files that a person chose as texts for a query.
#pragma once

#include <QString>
#include <QStringList>

#include <stop_token>
#include <string>
#include <vector>

namespace spanscope::ui {

struct TextFile {
  std::string name;  ///< of the file, with its folder if two of the files have the same name; never empty
  std::string text;  ///< UTF-8, without a byte order mark
};

struct TextFiles {
  std::vector<TextFile> files;  ///< empty if there is a problem
  /// What cannot be read, as a person reads it: "a.png: …".
  QStringList leftOut;
  QString problem;  ///< why nothing was read, in words; empty: something was read
};

/// Reads files, and all files in folders and in the folders below them: UTF-8 or UTF-16, and PDFs, whose
/// pages become one text. What cannot be read is left out. It is a problem if nothing can be read. Files of a
/// folder are ordered by the bytes of their paths.
TextFiles readTextFiles(const QStringList& paths, const std::stop_token& stop = {});

/// "left out: a.png: …; b.png: …": what the user reads of files that were left out. Empty if there are none.
QString leftOutText(const QStringList& leftOut);

}  // namespace spanscope::ui
