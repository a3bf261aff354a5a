// SPDX-License-Identifier: GPL-3.0-or-later
// Pictures that carry the document they were made of: PNG in a text chunk, SVG in its metadata. Every other
// program shows them as the pictures they are.
#pragma once

#include "engine/base/error.h"

#include <QByteArray>
#include <QString>

#include <string>
#include <string_view>
#include <variant>

namespace spanscope::document {

/// The picture, a whole PNG or SVG as this program writes them, with the document's text (as
/// writeDocument() gives it) in it. Anything else is given back as it is.
QByteArray withDocument(const QByteArray& picture, std::string_view documentText);

/// The text of the document that a picture carries, or why there is none. The picture may come from anyone:
/// it is read no further than its own lengths allow.
std::variant<std::string, Error> documentOfPicture(const QByteArray& picture);

/// Whether bytes begin as a PNG or an SVG does.
bool isPicture(const QByteArray& bytes);
/// Whether a file's name is that of one.
bool isPicturePath(const QString& path);

}  // namespace spanscope::document
