// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/export/view_picture.h"

#include <cmath>
#include <memory>

namespace spanscope::ui {
namespace {

/// A view that believes to be visible (hidden ones do not compute) and is on no screen.
std::unique_ptr<View> makeView(const ViewInfo& info, ViewInput input, const Theme& theme, const QSize& size) {
  std::unique_ptr<View> view(info.make(nullptr));
  view->setAttribute(Qt::WA_DontShowOnScreen);
  view->setPalette(theme.palette());
  view->setStyleSheet(theme.styleSheet());
  view->setFont(theme.interfaceFont());
  view->resize(size);
  view->show();
  input.theme = theme;
  view->setInput(input);
  return view;
}

}  // namespace

ExportItem exportItem(const ViewInfo& info, const ViewInput& input, const QSize& size) {
  return {.id = info.id,
          .title = info.title,
          .size = size,
          .paint = [info, input, size](
                       QPainter& painter, const QSize& wanted,
                       const Theme& theme) { makeView(info, input, theme, size)->paintTo(painter, wanted); },
          .csv = [info, input, size] { return makeView(info, input, input.theme, size)->csv(); }};
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
