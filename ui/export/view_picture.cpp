// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/export/view_picture.h"

#include "engine/base/output_file.h"
#include "ui/document/document_file.h"
#include "ui/words/tr.h"

#include <QBuffer>
#include <QCoreApplication>
#include <QFontInfo>
#include <QPageSize>
#include <QPdfWriter>
#include <QSvgGenerator>
#include <QTransform>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace spanscope::ui {

namespace {

constexpr int kRounds = 3;  // compute, show the result, lay it out

/// A view outside the screen. This view has a copy of the document, because views that edit show nothing
/// without a document.
struct OffscreenView {
  OffscreenView(const ViewInfo& info, ViewInput input, const Theme& theme, const QSize& size)
      : model(*input.document), view(info.make(nullptr)) {
    view->setAttribute(Qt::WA_DontShowOnScreen);
    view->setPalette(theme.palette());
    view->setStyleSheet(theme.styleSheet());
    view->setFont(theme.interfaceFont());
    view->resize(size);
    view->show();  // hidden views do not compute
    input.theme = theme;
    view->setModel(&model);
    view->setInput(input);
    settle();
    auto* late = dynamic_cast<LateView*>(view.get());
    if (late == nullptr) return;
    late->finish();
    settle();
  }

  /// Handles queued events, so that delayed computations and layouts end before painting.
  static void settle() {
    for (int i = 0; i < kRounds; ++i) QCoreApplication::processEvents(QEventLoop::ExcludeUserInputEvents);
  }

  DocumentModel model;
  std::unique_ptr<View> view;  ///< must be destroyed before `model`
};

}  // namespace

ViewInput inputForPicture(const QString& id, const ViewInput& input) {
  static const QStringList ofSelection{QStringLiteral("inspector"), QStringLiteral("why"),
                                       QStringLiteral("passages"), QStringLiteral("next-token"),
                                       QStringLiteral("rotation")};
  ViewInput unselected = input;
  if (ofSelection.contains(id)) return unselected;
  unselected.selection = {};
  if (const auto shown = input.shownRequest(); unselected.shownRequest() != shown)
    unselected.selection.request = shown;
  return unselected;
}

ExportItem exportItem(const ViewInfo& info, const ViewInput& input, const QSize& size) {
  return {.id = info.id,
          .title = info.title,
          .size = size,
          .paint =
              [info, input, size](QPainter& painter, const QSize& wanted, const Theme& theme) {
                OffscreenView(info, input, theme, size).view->paintTo(painter, wanted);
              },
          .csv = [info, input, size] { return OffscreenView(info, input, input.theme, size).view->csv(); }};
}

QSize pictureSize(const ExportItem& item) {
  if (item.isWindow) return item.size;
  const Theme theme;
  const PaintFunction paint = [&](QPainter& painter, const QSize& size) { item.paint(painter, size, theme); };
  return legibleSize(paint, item.size, theme.smallFont().pixelSize());
}

QImage renderItem(const ExportItem& item, const QSize& size, const Theme& theme, double scale) {
  QImage image(QSize(static_cast<int>(std::lround(size.width() * scale)),
                     static_cast<int>(std::lround(size.height() * scale))),
               QImage::Format_ARGB32_Premultiplied);
  image.setDevicePixelRatio(scale);
  image.fill(theme.color(Role::Surface));
  QPainter painter(&image);
  item.paint(painter, size, theme);
  return image;
}

namespace {

constexpr int kMostSide = 16384;                ///< pixels
constexpr double kMostArea = 64.0 * (1 << 20);  ///< pixels; at scale 2 this is the largest picture
constexpr double kTolerance = 0.05;             ///< pixels by which a font may be smaller
constexpr double kBetter = 1.02;  ///< min gain in font size for which the picture becomes larger
constexpr int kMaxSteps = 6;

/// Stores the size of the smallest font.
class TypeEngine final : public TextPaintEngine {
 public:
  std::optional<double> smallest() const { return m_smallest; }

  void drawTextItem(const QPointF& /*place*/, const QTextItem& item) override {
    if (item.text().trimmed().isEmpty()) return;
    const double enlarged = std::sqrt(std::abs(painter()->combinedTransform().determinant()));
    const double size = QFontInfo(item.font()).pixelSize() * enlarged;
    m_smallest = std::min(m_smallest.value_or(size), size);
  }

 private:
  std::optional<double> m_smallest;
};

class TypeDevice final : public QPaintDevice {
 public:
  explicit TypeDevice(const QSize& size) : m_size(size) {}

  std::optional<double> smallest() const { return m_engine.smallest(); }
  QPaintEngine* paintEngine() const override { return &m_engine; }

 protected:
  int metric(PaintDeviceMetric metric) const override { return screenMetric(metric, m_size, 1); }

 private:
  QSize m_size;
  mutable TypeEngine m_engine;
};

bool isPossible(const QSize& size) {
  return double(size.width()) * size.height() <= kMostArea;
}

}  // namespace

std::optional<double> smallestType(const PaintFunction& paint, const QSize& size) {
  TypeDevice device(size);
  QPainter painter(&device);
  painter.setClipRect(QRect(QPoint(), size));
  paint(painter, size);
  painter.end();
  return device.smallest();
}

QSize legibleSize(const PaintFunction& paint, const QSize& size, double least) {
  QSize best = size;
  double smallest = smallestType(paint, best).value_or(least);
  for (int round = 0; round < kMaxSteps && smallest < least - kTolerance; ++round) {
    const double factor = least / smallest;
    const auto grown = [factor](int side) {
      return std::max(side, std::min(static_cast<int>(std::ceil(side * factor)) + 1, kMostSide));
    };
    const QSize larger(grown(best.width()), grown(best.height()));
    const QSize wider(larger.width(), best.height());
    const QSize higher(best.width(), larger.height());
    bool isBetter = false;
    for (const QSize& next : {wider, higher, larger}) {
      if (!isPossible(next)) continue;
      const double type = smallestType(paint, next).value_or(least);
      if (type < smallest * kBetter) continue;
      best = next;
      smallest = type;
      isBetter = true;
      break;
    }
    if (!isBetter) break;
  }
  return best;
}

int screenMetric(QPaintDevice::PaintDeviceMetric metric, const QSize& size, double scale) {
  constexpr int kDotsPerInch = 96;
  constexpr double kMillimetres = 25.4;
  const auto pixels = [scale](int logical) { return static_cast<int>(std::lround(logical * scale)); };
  switch (metric) {
    case QPaintDevice::PdmWidth:
      return pixels(size.width());
    case QPaintDevice::PdmHeight:
      return pixels(size.height());
    case QPaintDevice::PdmWidthMM:
      return static_cast<int>(size.width() * kMillimetres / kDotsPerInch);
    case QPaintDevice::PdmHeightMM:
      return static_cast<int>(size.height() * kMillimetres / kDotsPerInch);
    case QPaintDevice::PdmNumColors:
      return 1 << 24;
    case QPaintDevice::PdmDepth:
      return 32;
    case QPaintDevice::PdmDpiX:
    case QPaintDevice::PdmDpiY:
    case QPaintDevice::PdmPhysicalDpiX:
    case QPaintDevice::PdmPhysicalDpiY:
      return kDotsPerInch;
    case QPaintDevice::PdmDevicePixelRatio:
      return static_cast<int>(std::ceil(scale));
    case QPaintDevice::PdmDevicePixelRatioScaled:
      return static_cast<int>(scale * QPaintDevice::devicePixelRatioFScale());
  }
  return 0;
}

namespace {

constexpr int kMaxSide = 32767;                     ///< pixels; max side of a picture for QPainter
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
  // QPainter treats a ratio below 1 as 1. Then paintWith() scales the painting instead.
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
      .expected = "1 to " + std::to_string(kMaxSide) +
                  " pixels on each side, and at most 268 million pixels in total"};
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
