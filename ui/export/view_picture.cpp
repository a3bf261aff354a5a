// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/export/view_picture.h"

#include "ui/export/smallest_type.h"
#include "ui/views/common/late_view.h"

#include <QCoreApplication>

#include <cmath>
#include <memory>

namespace spanscope::ui {
namespace {

constexpr int kRounds = 3;  // compute, show what came of it, lay it out

/// A view on no screen, with a copy of the document: views that edit show nothing without one.
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

  /// Views that wait for a quiet moment to compute, and layouts, get theirs before anything is painted.
  static void settle() {
    for (int i = 0; i < kRounds; ++i) QCoreApplication::processEvents(QEventLoop::ExcludeUserInputEvents);
  }

  DocumentModel model;
  std::unique_ptr<View> view;  ///< ends first: it refers to the model
};

}  // namespace

ViewInput inputForPicture(const QString& id, const ViewInput& input) {
  static const QStringList ofSelection{QStringLiteral("inspector"), QStringLiteral("why"),
                                       QStringLiteral("fragments"), QStringLiteral("next-token"),
                                       QStringLiteral("turn")};
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

}  // namespace spanscope::ui
