// SPDX-License-Identifier: GPL-3.0-or-later
// Writes a document into a picture file and reads it from there. A PNG has the document in a text chunk, an
// SVG in its metadata. Other programs show these files as ordinary pictures.
#pragma once

#include "engine/base/error.h"

#include <QByteArray>
#include <QString>

#include <string>
#include <string_view>
#include <variant>

namespace spanscope::ui {

/// Returns the picture with a document in it. `documentText` comes from writeDocument(). `picture` is a whole
/// PNG or SVG that this program wrote. Returns anything else unchanged.
QByteArray withDocument(const QByteArray& picture, std::string_view documentText);

/// Returns the text of the document in a picture, or an error. The picture is untrusted, so every length
/// field is checked.
std::variant<std::string, Error> documentOfPicture(const QByteArray& picture);

/// Whether the bytes begin as a PNG or an SVG does.
bool isPicture(const QByteArray& bytes);
/// Whether the file name ends in .png or .svg.
bool isPicturePath(const QString& path);

}  // namespace spanscope::ui
