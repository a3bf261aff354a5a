// SPDX-License-Identifier: GPL-3.0-or-later
// Paints views without a window, for exported pictures, `--screenshot` and tests of pictures.
// Writes what a view shows to a file or the clipboard.
#pragma once

#include "engine/base/error.h"
#include "ui/session/view_input.h"
#include "ui/theme/theme.h"
#include "ui/views/view.h"

#include <QByteArray>
#include <QColor>
#include <QImage>
#include <QMimeData>
#include <QPaintDevice>
#include <QPaintEngine>
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
  QString title;      ///< Title of the picture in the file.
  /// The text of a document to put into a PNG or SVG file. The program can open the document from this file.
  /// Empty: none.
  std::string document = {};
};

/// Returns the bytes of a picture. Returns an error if the size is empty or too large.
std::variant<QByteArray, Error> makePicture(const PaintFunction& paint, QSize size, PictureFormat format,
                                            const PictureOptions& options = {});

/// Writes a picture to a file. Returns an error if that fails; then the file is unchanged.
std::optional<Error> exportPicture(const PaintFunction& paint, QSize size, PictureFormat format,
                                   const QString& path, const PictureOptions& options = {});
/// Writes bytes to a file in the same way as exportPicture().
std::optional<Error> writeFile(const QString& path, const QByteArray& bytes);

/// Makes clipboard data with the picture in its own format and as an image. So every program finds a format
/// that it knows.
std::variant<std::unique_ptr<QMimeData>, Error> pictureForClipboard(const PaintFunction& paint, QSize size,
                                                                    PictureFormat format,
                                                                    const PictureOptions& options = {});
std::unique_ptr<QMimeData> csvForClipboard(const QString& csv);

/// Something that can be exported, such as a view or the canvas.
struct ExportItem {
  QString id;  ///< beginning of the file name
  QString title;
  QSize size;  ///< its size in the window
  std::function<void(QPainter&, const QSize&, const Theme&)> paint;
  std::function<QString()> csv;  ///< no function, or an empty text: there is no table
  bool isWindow = false;         ///< the item is painted as on the screen, whatever the size of its type
};

/// A view from the table of views with this input, to be painted in any theme. Each painting makes a new
/// view, so that the view on the screen does not change.
ExportItem exportItem(const ViewInfo& info, const ViewInput& input, const QSize& size);

/// The input for an exported picture of this view, or of the canvas. The result has the same request, but no
/// selection. Views that show only the selected node, block or token keep the selection.
ViewInput inputForPicture(const QString& id, const ViewInput& input);

/// The size for a picture of the item. The picture is larger than the item if the item's type would be
/// smaller than the window's smallest type. The function paints the item several times.
QSize pictureSize(const ExportItem& item);

/// Paints the item into an image of `size` × `scale` pixels. `scale` is at least 1.
QImage renderItem(const ExportItem& item, const QSize& size, const Theme& theme, double scale = 1);

// The size of the smallest type in a picture.

/// The size of the smallest type that the function paints into a picture of this size. The unit is a pixel of
/// the picture at scale 1. Nothing if the function paints no text.
std::optional<double> smallestType(const PaintFunction& paint, const QSize& size);

/// The size at which the function paints no type smaller than `least` pixels. The result is `size`, or a
/// wider or higher size as far as this makes the type larger. At the largest size of a picture, the type may
/// still be smaller.
QSize legibleSize(const PaintFunction& paint, const QSize& size, double least);

/// Paints nothing but receives every text, to measure the texts that a painter would write.
class TextPaintEngine : public QPaintEngine {
 public:
  TextPaintEngine() : QPaintEngine(AllFeatures) {}

  bool begin(QPaintDevice* /*device*/) override { return true; }
  bool end() override { return true; }
  void updateState(const QPaintEngineState& /*state*/) override {}
  Type type() const override { return User; }
  void drawPixmap(const QRectF& /*area*/, const QPixmap& /*pixmap*/, const QRectF& /*from*/) override {}
  void drawImage(const QRectF& /*area*/, const QImage& /*image*/, const QRectF& /*from*/,
                 Qt::ImageConversionFlags /*flags*/) override {}
  void drawTiledPixmap(const QRectF& /*area*/, const QPixmap& /*pixmap*/, const QPointF& /*from*/) override {}
  void drawPath(const QPainterPath& /*path*/) override {}
  void drawPolygon(const QPointF* /*points*/, int /*count*/, PolygonDrawMode /*mode*/) override {}
  void drawPolygon(const QPoint* /*points*/, int /*count*/, PolygonDrawMode /*mode*/) override {}
  void drawLines(const QLineF* /*lines*/, int /*count*/) override {}
  void drawLines(const QLine* /*lines*/, int /*count*/) override {}
  void drawRects(const QRectF* /*areas*/, int /*count*/) override {}
  void drawRects(const QRect* /*areas*/, int /*count*/) override {}
  void drawPoints(const QPointF* /*points*/, int /*count*/) override {}
  void drawPoints(const QPoint* /*points*/, int /*count*/) override {}
  void drawEllipse(const QRectF& /*area*/) override {}
  void drawEllipse(const QRect& /*area*/) override {}

  void drawTextItem(const QPointF& place, const QTextItem& item) override = 0;
};

/// The result of QPaintDevice::metric() for a device of `size` logical pixels on a screen of `scale`.
int screenMetric(QPaintDevice::PaintDeviceMetric metric, const QSize& size, double scale);

}  // namespace spanscope::ui
