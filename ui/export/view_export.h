// SPDX-License-Identifier: GPL-3.0-or-later
// Writes what a view shows to a file or the clipboard.
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
  double scale = 1;   ///< PNG: pixels of the picture for each pixel of the view, 0.25 … 8
  QColor background;  ///< colour of the background; invalid: none (PNG: transparent)
  QString title;      ///< title of the picture in the file
  /// The text of the document to put into a PNG or SVG file, so that the program can open the document from
  /// it again. Empty: none.
  std::string document = {};
};

/// Returns the bytes of a picture. Returns an error if the size is empty or too large.
std::variant<QByteArray, Error> makePicture(const PaintFunction& paint, QSize size, PictureFormat format,
                                            const PictureOptions& options = {});

/// Writes a picture to a file. If that fails, the file is unchanged and the error says why.
std::optional<Error> exportPicture(const PaintFunction& paint, QSize size, PictureFormat format,
                                   const QString& path, const PictureOptions& options = {});
/// Writes bytes to a file in the same way.
std::optional<Error> writeFile(const QString& path, const QByteArray& bytes);

/// Makes clipboard data that holds the picture in its own format and as an image, so that every program finds
/// a format it knows.
std::variant<std::unique_ptr<QMimeData>, Error> pictureForClipboard(const PaintFunction& paint, QSize size,
                                                                    PictureFormat format,
                                                                    const PictureOptions& options = {});
std::unique_ptr<QMimeData> csvForClipboard(const QString& csv);

}  // namespace spanscope::ui
