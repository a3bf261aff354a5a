// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/export/view_export.h"

#include "engine/base/output_file.h"
#include "ui/document/picture_document.h"
#include "ui/words/tr.h"

#include <QBuffer>
#include <QImage>
#include <QPageSize>
#include <QPdfWriter>
#include <QSvgGenerator>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace spanscope::ui {
namespace {

constexpr int kMaxSide = 32767;                     ///< of what QPainter draws into
constexpr double kMaxPixels = 256.0 * (1U << 20U);  ///< 1 GiB as an image
constexpr int kDotsPerInch = 96;                    ///< a pixel of the view is 1/96 inch in SVG and PDF
constexpr double kPointsPerInch = 72;
constexpr double kLeastScale = 0.25;
constexpr double kMostScale = 8;

void paintWith(QPaintDevice& device, const PaintFunction& paint, QSize size, const PictureOptions& options,
               double scale = 1) {
  QPainter painter(&device);
  painter.scale(scale, scale);
  if (options.background.isValid()) painter.fillRect(QRect(QPoint(), size), options.background);
  painter.setClipRect(QRect(QPoint(), size));
  paint(painter, size);
}

std::variant<QImage, Error> makeImage(const PaintFunction& paint, QSize size, const PictureOptions& options) {
  const double scale = std::clamp(options.scale, kLeastScale, kMostScale);
  const QSize pixels(static_cast<int>(std::lround(size.width() * scale)),
                     static_cast<int>(std::lround(size.height() * scale)));
  QImage image(pixels, QImage::Format_ARGB32_Premultiplied);
  if (image.isNull()) {
    return Error{
        .file = {},
        .place = "the picture",
        .found = std::to_string(pixels.width()) + " × " + std::to_string(pixels.height()) + " pixels",
        .expected = "a size that fits into memory"};
  }
  // QPainter takes a ratio below 1 for 1: then the painter shrinks what is painted.
  image.setDevicePixelRatio(std::max(1.0, scale));
  image.fill(Qt::transparent);
  if (!options.title.isEmpty()) image.setText(QStringLiteral("Title"), options.title);
  paintWith(image, paint, size, options, std::min(1.0, scale));
  return image;
}

std::optional<Error> checkSize(QSize size, PictureFormat format, const PictureOptions& options) {
  const double scale = format == PictureFormat::Png ? std::clamp(options.scale, kLeastScale, kMostScale) : 1;
  const double width = size.width() * scale;
  const double height = size.height() * scale;
  const bool fits = width >= 1 && height >= 1 && width <= kMaxSide && height <= kMaxSide;
  if (fits && (format != PictureFormat::Png || width * height <= kMaxPixels)) return std::nullopt;
  return Error{
      .file = {},
      .place = "the picture",
      .found = std::to_string(std::lround(width)) + " × " + std::to_string(std::lround(height)) + " pixels",
      .expected = "1 to " + std::to_string(kMaxSide) + " on each side, at most 268 million altogether"};
}

}  // namespace

QString suffixOf(PictureFormat format) {
  switch (format) {
    case PictureFormat::Png:
      return QStringLiteral("png");
    case PictureFormat::Svg:
      return QStringLiteral("svg");
    case PictureFormat::Pdf:
      return QStringLiteral("pdf");
  }
  return {};
}

std::variant<QByteArray, Error> makePicture(const PaintFunction& paint, QSize size, PictureFormat format,
                                            const PictureOptions& options) {
  if (std::optional<Error> error = checkSize(size, format, options)) return std::move(*error);
  QByteArray bytes;
  QBuffer buffer(&bytes);
  buffer.open(QIODevice::WriteOnly);
  switch (format) {
    case PictureFormat::Png: {
      auto image = makeImage(paint, size, options);
      if (auto* error = std::get_if<Error>(&image)) return std::move(*error);
      std::get<QImage>(image).save(&buffer, "PNG");
      break;
    }
    case PictureFormat::Svg: {
      QSvgGenerator generator;
      generator.setOutputDevice(&buffer);
      generator.setResolution(kDotsPerInch);
      generator.setSize(size);
      generator.setViewBox(QRect(QPoint(), size));
      generator.setTitle(options.title);
      generator.setDescription(tr("Drawn by Spanscope"));
      paintWith(generator, paint, size, options);
      break;
    }
    case PictureFormat::Pdf: {
      QPdfWriter writer(&buffer);
      writer.setResolution(kDotsPerInch);
      writer.setPageSize(QPageSize(QSizeF(size) * kPointsPerInch / kDotsPerInch, QPageSize::Point, QString(),
                                   QPageSize::ExactMatch));
      writer.setPageMargins(QMarginsF());
      writer.setTitle(options.title);
      writer.setCreator(QStringLiteral("Spanscope"));
      paintWith(writer, paint, size, options);
      break;
    }
  }
  buffer.close();
  return options.document.empty() ? bytes : withDocument(bytes, options.document);
}

std::optional<Error> writeFile(const QString& path, const QByteArray& bytes) {
  return spanscope::writeFile(path.toStdString(),
                              {bytes.constData(), static_cast<std::size_t>(bytes.size())});
}

std::optional<Error> exportPicture(const PaintFunction& paint, QSize size, PictureFormat format,
                                   const QString& path, const PictureOptions& options) {
  auto picture = makePicture(paint, size, format, options);
  if (auto* error = std::get_if<Error>(&picture)) {
    error->file = path.toStdString();
    return std::move(*error);
  }
  return writeFile(path, std::get<QByteArray>(picture));
}

std::variant<std::unique_ptr<QMimeData>, Error> pictureForClipboard(const PaintFunction& paint, QSize size,
                                                                    PictureFormat format,
                                                                    const PictureOptions& options) {
  if (std::optional<Error> error = checkSize(size, PictureFormat::Png, options)) return std::move(*error);
  auto image = makeImage(paint, size, options);
  if (auto* error = std::get_if<Error>(&image)) return std::move(*error);
  auto data = std::make_unique<QMimeData>();
  if (format != PictureFormat::Png) {
    auto picture = makePicture(paint, size, format, options);
    if (auto* error = std::get_if<Error>(&picture)) return std::move(*error);
    data->setData(
        format == PictureFormat::Svg ? QStringLiteral("image/svg+xml") : QStringLiteral("application/pdf"),
        std::get<QByteArray>(picture));
  }
  data->setImageData(std::get<QImage>(image));
  return data;
}

std::unique_ptr<QMimeData> csvForClipboard(const QString& csv) {
  auto data = std::make_unique<QMimeData>();
  data->setData(QStringLiteral("text/csv"), csv.toUtf8());
  data->setText(csv);
  return data;
}

}  // namespace spanscope::ui
