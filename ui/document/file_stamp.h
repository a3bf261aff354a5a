// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QByteArray>
#include <QString>

namespace spanscope::document {

/// What a file held when it was looked at. Two stamps are equal if the file holds the same, whatever was done
/// to it in between.
struct FileStamp {
  bool exists = false;  ///< as a regular file that can be read
  QByteArray content;   ///< SHA-256; of what is larger than any document can be, its size and time instead
  bool operator==(const FileStamp&) const = default;
};

/// Reads the file, following links. Anything but a regular file counts as not there.
FileStamp stampOf(const QString& path);

}  // namespace spanscope::document
