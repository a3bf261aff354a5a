// SPDX-License-Identifier: GPL-3.0-or-later
// Shows the alternatives of each token of an answer under two policies, side by side.
#pragma once

#include "ui/views/common/run_view.h"
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
  /// Whether the engine can be asked for what is chosen now.
  bool canCompute() const;
  bool canPerform(const QString& command) const override;
  void perform(const QString& command) override;
  /// Compares with this request's policy; 0: with a full prefill.
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

}  // namespace spanscope::ui
