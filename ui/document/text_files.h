// SPDX-License-Identifier: GPL-3.0-or-later
// Reads files that a person chose as texts for a query.
#pragma once

#include <QString>
#include <QStringList>

#include <string>
#include <vector>

namespace spanscope::ui {

struct TextFile {
  std::string name;  ///< of the file, with its folder if two of the files have the same name; never empty
  std::string text;  ///< UTF-8, without a byte order mark
};

struct TextFiles {
  std::vector<TextFile> files;  ///< empty if there is a problem
  /// Files in chosen folders that hold no text, as a person reads them: "a.png: …".
  QStringList leftOut;
  QString problem;  ///< why nothing was read, in words; empty: all that was chosen was read
};

/// Reads files, and all files in folders and in the folders below them. A file that was chosen itself must be
/// a UTF-8 text, or nothing is read; a file that was found in a chosen folder is left out if it is none.
/// Files of a folder are ordered by the bytes of their paths.
TextFiles readTextFiles(const QStringList& paths);

/// What a person is told of files that were left out: "2 files hold no text: a.png, b.png". Empty if there
/// are none.
QString leftOutText(const QStringList& leftOut);

}  // namespace spanscope::ui
