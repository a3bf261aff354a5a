// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QByteArray>
#include <QString>

namespace spanscope::ui {

/// What a file held when it was looked at. Two stamps are equal if the file held the same both times,
/// whatever happened in between.
struct FileStamp {
  bool exists = false;  ///< there is a regular file that can be read
  /// SHA-256 of its bytes; if it is larger than any document may be, its size and time instead.
  QByteArray content;
  bool operator==(const FileStamp&) const = default;
};

/// Reads the file and follows links. Anything but a regular file counts as missing.
FileStamp stampOf(const QString& path);

}  // namespace spanscope::ui
