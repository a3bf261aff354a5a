// SPDX-License-Identifier: GPL-3.0-or-later
// What a view shows as a file or on the clipboard.
#pragma once

#include "engine/base/error.h"

#include <QByteArray>
#include <QColor>
#include <QMimeData>
#include <QPainter>
#include <QSize>
#include <QString>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>

namespace spanscope::ui {

/// Paints into a rectangle of this size in pixels.
using PaintFunction = std::function<void(QPainter&, const QSize&)>;

enum class PictureFormat { Png, Svg, Pdf };

/// "png", "svg", "pdf".
QString suffixOf(PictureFormat format);

struct PictureOptions {
  double scale = 1;   ///< PNG: pixels a pixel of the view, 0.25 … 8
  QColor background;  ///< behind what is painted; invalid: nothing (PNG: transparent)
  QString title;      ///< of the picture, in the file
  /// Text of the document that PNG and SVG files carry, so that they can be opened again; empty: none.
  std::string document = {};
};

/// The bytes of a picture, or why there is none: a size that is empty or too large.
std::variant<QByteArray, Error> makePicture(const PaintFunction& paint, QSize size, PictureFormat format,
                                            const PictureOptions& options = {});

/// Either the whole picture is in the file afterwards, or the file is what it was and the error says why.
std::optional<Error> exportPicture(const PaintFunction& paint, QSize size, PictureFormat format,
                                   const QString& path, const PictureOptions& options = {});
/// The same for any bytes.
std::optional<Error> writeFile(const QString& path, const QByteArray& bytes);

/// For the clipboard: a picture in its own type and as an image besides, so that every program finds one it
/// knows.
std::variant<std::unique_ptr<QMimeData>, Error> pictureForClipboard(const PaintFunction& paint, QSize size,
                                                                    PictureFormat format,
                                                                    const PictureOptions& options = {});
std::unique_ptr<QMimeData> csvForClipboard(const QString& csv);

}  // namespace spanscope::ui
