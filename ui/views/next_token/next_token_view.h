// SPDX-License-Identifier: GPL-3.0-or-later
// Shows the alternatives of each token of an answer under two policies, side by side.
#pragma once

#include "ui/theme/theme.h"
#include "ui/views/common/input_view.h"
#include "ui/views/common/item_canvas.h"
#include "ui/views/next_token/next_token_model.h"

#include <QPointer>

class QComboBox;
class QLabel;
class QPushButton;

namespace spanscope::ui {

class NextTokenBars;

class NextTokenView : public RunView {
  Q_OBJECT
 public:
  explicit NextTokenView(QWidget* parent = nullptr);

  QString csv() const override;
  void paintTo(QPainter& painter, const QSize& size) override;

  const NextTokenModel& shownModel() const { return m_shown; }
  /// Whether the engine can compute the current choice.
  bool canCompute() const;
  bool canPerform(const QString& command) const override;
  void perform(const QString& command) override;
  /// Compares with the policy of this request. 0: compares with a full prefill.
  void compareWith(RequestId other);

 protected:
  void refresh() override;
  QString emptyText() const override;

 private:
  void showControls();
  QString statusText() const;
  Role statusRole() const;

  RequestId m_other = 0;
  NextTokenModel m_shown;
  bool m_isFilling = false;
  bool m_couldCompute = false;
  QString m_lastSummary;
  QLabel* m_status;
  QPushButton* m_compute;
  NextTokenBars* m_bars;
  QLabel* m_sentence;
  QPointer<QComboBox> m_against;
};

/// Draws the divergence at each token of an answer. Below it are the alternatives at one token, with a bar
/// for each side. The tokens are the items. Page Up and Page Down go to tokens at which the sides differ.
class NextTokenBars : public ItemCanvas {
  Q_OBJECT
 public:
  explicit NextTokenBars(QWidget* parent = nullptr);

  void setContent(const NextTokenModel& model, const Theme& theme);
  void paint(QPainter& painter, const QRect& area) const;
  QSize sizeHint() const override { return {420, 300}; }
  QSize minimumSizeHint() const override { return {220, 140}; }

 Q_SIGNALS:
  void placeChosen(std::size_t place);

 protected:
  QRect itemRect(int item) const override;
  QModelIndex moveCursor(CursorAction action, Qt::KeyboardModifiers modifiers) override;
  void currentChanged(const QModelIndex& current, const QModelIndex& previous) override;
  void paintEvent(QPaintEvent* event) override;

 private:
  QRect strip(const QRect& area) const;
  void paintStrip(QPainter& painter, const QRect& area) const;
  void paintAlternatives(QPainter& painter, const QRect& area) const;

  NextTokenModel m_model;
  Theme m_theme;
  bool m_isFilling = false;
};

}  // namespace spanscope::ui
