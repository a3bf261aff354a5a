// SPDX-License-Identifier: GPL-3.0-or-later
// A bar for each source of the prompt: how much of the answer's attention it has.
#pragma once

#include "ui/theme/theme.h"
#include "ui/views/attention/attention_shares.h"

#include <QWidget>

#include <optional>

namespace spanscope::ui {

class ShareBars : public QWidget {
  Q_OBJECT
 public:
  explicit ShareBars(QWidget* parent = nullptr);

  void setContent(const ShareModel& model, const Theme& theme);
  const ShareModel& model() const { return m_model; }
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override { return {0, 0}; }
  bool hasHeightForWidth() const override { return true; }
  int heightForWidth(int width) const override;
  void paint(QPainter& painter, const QRect& area) const;
  /// Of a bar with its label, in a widget of this size.
  QRect barRect(std::size_t bar, const QRect& area) const;
  /// What stands under the bars at this width.
  std::vector<QString> labels(int width) const;

 Q_SIGNALS:
  void chosen(std::size_t bar);

 protected:
  bool event(QEvent* event) override;
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void focusInEvent(QFocusEvent* event) override;
  void focusOutEvent(QFocusEvent* event) override;

 private:
  struct Labels {
    std::vector<QString> texts;
    bool upright = false;  ///< they stand on end, since side by side they have no room
    int height = 0;
  };
  Labels labelsFor(int width) const;
  /// The note has room on the line of the sentence, else it has one of its own.
  bool noteStandsBeside(int width) const;
  int headHeight(int width) const;  ///< of sentence and note
  std::optional<std::size_t> barAt(const QPoint& place) const;
  void setCurrent(std::size_t bar);
  void paintBar(QPainter& painter, const QRect& area, const Labels& labels, std::size_t bar) const;
  void paintValues(QPainter& painter, const QRect& area) const;

  ShareModel m_model;
  Theme m_theme;
  int m_headWidth = 0;                   ///< of sentence and note side by side
  std::optional<std::size_t> m_current;  ///< of the keys
};

}  // namespace spanscope::ui
