// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/operators/operator_icon.h"

namespace spanscope::ui {
namespace {

void addStar(QPainterPath& path) {
  path.moveTo(8, 1);
  path.quadTo(8.8, 7.2, 15, 8);
  path.quadTo(8.8, 8.8, 8, 15);
  path.quadTo(7.2, 8.8, 1, 8);
  path.quadTo(7.2, 7.2, 8, 1);
}

void addPerson(QPainterPath& path) {
  path.addEllipse(QPointF(8, 5), 3.2, 3.2);
  path.moveTo(2, 15);
  path.cubicTo(2, 11, 5, 10.2, 8, 10.2);
  path.cubicTo(11, 10.2, 14, 11, 14, 15);
}

void addScreen(QPainterPath& path) {
  path.addRoundedRect(1.5, 2.5, 13, 9, 1, 1);
  path.moveTo(5, 14.5);
  path.lineTo(11, 14.5);
  path.moveTo(8, 11.5);
  path.lineTo(8, 14.5);
}

void addPage(QPainterPath& path) {
  path.moveTo(3.5, 1.5);
  path.lineTo(9.5, 1.5);
  path.lineTo(12.5, 4.5);
  path.lineTo(12.5, 14.5);
  path.lineTo(3.5, 14.5);
  path.closeSubpath();
  path.moveTo(9.5, 1.5);
  path.lineTo(9.5, 4.5);
  path.lineTo(12.5, 4.5);
}

void addLine(QPainterPath& path, double x1, double y1, double x2, double y2) {
  path.moveTo(x1, y1);
  path.lineTo(x2, y2);
}

}  // namespace

QPainterPath operatorIcon(std::string_view op) {
  QPainterPath path;
  if (op == "system") {
    addScreen(path);
  } else if (op == "user") {
    addPerson(path);
  } else if (op == "assistant") {
    path.addRoundedRect(1.5, 2.5, 13, 9, 2, 2);
    path.moveTo(5, 11.5);
    path.lineTo(5, 14.5);
    path.lineTo(8.5, 11.5);
    addLine(path, 4.5, 7, 11.5, 7);
  } else if (op == "g") {
    addStar(path);
  } else if (op == "repeat") {
    addStar(path);
    path = path.translated(-1.5, 1.5);
    addLine(path, 13, 1, 13, 5);
    addLine(path, 11, 3, 15, 3);
  } else if (op == "plus") {
    addLine(path, 8, 2, 8, 14);
    addLine(path, 2, 8, 14, 8);
  } else if (op == "cross") {
    addLine(path, 3, 3, 13, 13);
    addLine(path, 13, 3, 3, 13);
  } else if (op == "seq") {
    addLine(path, 8, 1.5, 8, 14);
    path.moveTo(4.5, 10.5);
    path.lineTo(8, 14);
    path.lineTo(11.5, 10.5);
  } else if (op == "par") {
    addLine(path, 4.5, 2, 4.5, 14);
    addLine(path, 11.5, 2, 11.5, 14);
  } else if (op == "zip") {
    for (const double y : {3.0, 6.5, 10.0, 13.5}) addLine(path, 5, y, 11, y);
    addLine(path, 8, 1, 8, 15);
  } else if (op == "monad") {
    path.addEllipse(QPointF(8, 8), 6, 6);
    addLine(path, 4, 12, 12, 4);
  } else if (op == "print") {
    addLine(path, 2, 13.5, 9, 13.5);
    path.moveTo(2, 3);
    path.lineTo(6.5, 7);
    path.lineTo(2, 11);
  } else if (op == "map") {
    for (const double y : {3.5, 8.0, 12.5}) {
      path.addEllipse(QPointF(3, y), 1.2, 1.2);
      addLine(path, 7, y, 14, y);
    }
  } else if (op == "augment") {
    path.addEllipse(QPointF(6.5, 6.5), 4.5, 4.5);
    addLine(path, 10, 10, 14.5, 14.5);
  } else if (op == "ask") {
    path.addEllipse(QPointF(8, 8), 6.5, 6.5);
    path.moveTo(6, 6.5);
    path.cubicTo(6, 3.5, 10.2, 3.5, 10.2, 6.3);
    path.cubicTo(10.2, 8, 8, 7.8, 8, 9.8);
    addLine(path, 8, 11.6, 8, 12);
  } else {
    addPage(path);
  }
  return path;
}

}  // namespace spanscope::ui
