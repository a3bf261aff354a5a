// SPDX-License-Identifier: GPL-3.0-or-later
// Shows an answer and the alternatives of each of its tokens under two policies, side by side. Open this file
// for the controls and texts of the view.
#pragma once

#include "ui/theme/theme.h"
#include "ui/views/common/input_view.h"
#include "ui/views/next_token/next_token_model.h"

#include <QPointer>

class QComboBox;
class QLabel;
class QPushButton;

namespace spanscope::ui {

class AnswerTokens;
class FacingBars;

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
  void resizeEvent(QResizeEvent* event) override;

 private:
  void showControls();
  QString statusText() const;
  Role statusRole() const;
  /// Gives the answer the height that it needs, but at most half of the view.
  void fitAnswer();

  RequestId m_other = 0;
  NextTokenModel m_shown;
  bool m_isFilling = false;
  bool m_couldCompute = false;
  QString m_lastSummary;
  QLabel* m_status;
  QPushButton* m_compute;
  QLabel* m_headline;
  AnswerTokens* m_answer;
  QLabel* m_sentence;
  FacingBars* m_bars;
  QPointer<QComboBox> m_against;
};

}  // namespace spanscope::ui
