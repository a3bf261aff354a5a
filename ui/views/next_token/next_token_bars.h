// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/theme/theme.h"
#include "ui/views/next_token/next_token_model.h"

#include <QWidget>

#include <optional>

namespace spanscope::ui {

/// Draws the divergence at each token of an answer, and below it the alternatives at one of them, with a bar
/// for either side.
class NextTokenBars : public QWidget {
  Q_OBJECT
 public:
  explicit NextTokenBars(QWidget* parent = nullptr);

  void setContent(const NextTokenModel& model, const Theme& theme);
  void paint(QPainter& painter, const QRect& area) const;
  QSize sizeHint() const override { return {420, 300}; }
  QSize minimumSizeHint() const override { return {220, 140}; }
  /// The place at a point of an area that paint() fills.
  std::optional<std::size_t> placeAt(const QPoint& point, const QRect& area) const;

 Q_SIGNALS:
  void placeChosen(std::size_t place);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  bool event(QEvent* event) override;
  void focusInEvent(QFocusEvent* event) override;
  void focusOutEvent(QFocusEvent* event) override;

 private:
  QRect strip(const QRect& area) const;
  void paintStrip(QPainter& painter, const QRect& area) const;
  void paintAlternatives(QPainter& painter, const QRect& area) const;

  NextTokenModel m_model;
  Theme m_theme;
};

}  // namespace spanscope::ui
