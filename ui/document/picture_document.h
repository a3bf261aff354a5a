// SPDX-License-Identifier: GPL-3.0-or-later
// Pictures that carry the document from which they were made: a PNG in a text chunk, an SVG in its metadata.
// Other programs show them as ordinary pictures.
#pragma once

#include "engine/base/error.h"

#include <QByteArray>
#include <QString>

#include <string>
#include <string_view>
#include <variant>

namespace spanscope::ui {

/// Returns the picture with the document's text in it, as writeDocument() gives it. `picture` is a whole PNG
/// or SVG as this program writes them; anything else is returned unchanged.
QByteArray withDocument(const QByteArray& picture, std::string_view documentText);

/// The text of the document that a picture carries, or why there is none. The picture may come from anyone,
/// so it is read no further than its own length fields allow.
std::variant<std::string, Error> documentOfPicture(const QByteArray& picture);

/// Whether the bytes begin like a PNG or an SVG.
bool isPicture(const QByteArray& bytes);
/// Whether the file's name is that of a PNG or an SVG.
bool isPicturePath(const QString& path);

}  // namespace spanscope::ui
