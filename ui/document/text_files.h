// SPDX-License-Identifier: GPL-3.0-or-later
// Reads files that the user chose as texts for a query.
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
  /// The files that cannot be read, for the user: "a.png: …".
  QStringList leftOut;
  QString problem;  ///< why nothing was read, in words; empty if a file was read
};

/// Reads files, and all files in folders and in the folders below them. A file is UTF-8, UTF-16 or a PDF.
/// The pages of a PDF become one text. Files that cannot be read are left out. TextFiles::problem is set if
/// no file can be read. Files of a folder are ordered by the bytes of their paths.
TextFiles readTextFiles(const QStringList& paths, const std::stop_token& stop = {});

/// "left out: a.png: …; b.png: …", for the user. Empty if no file was left out.
QString leftOutText(const QStringList& leftOut);

}  // namespace spanscope::ui
