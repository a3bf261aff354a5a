// SPDX-License-Identifier: GPL-3.0-or-later
// Shows one answer as a card.
#pragma once

#include "ui/theme/theme.h"
#include "ui/views/output/output_model.h"

#include <QWidget>

#include <optional>

class QBoxLayout;
class QLabel;
class QProgressBar;
class QToolButton;

namespace spanscope::ui {

class ElidedLabel;

class AnswerCard : public QWidget {
  Q_OBJECT
 public:
  explicit AnswerCard(QWidget* parent = nullptr);

  void setContent(const Answer& answer, const Theme& theme, bool selected);
  const Answer& answer() const { return m_answer; }
  /// In a low dock, advice of several lines and what it offers is one line until the user asks for more.
  void setCompact(bool isCompact);
  QToolButton& copyButton() { return *m_copy; }
  QToolButton& fidelityButton() { return *m_measure; }
  QToolButton& moreButton() { return *m_more; }
  QToolButton& policiesButton() { return *m_policies; }
  QToolButton& adapterButton() { return *m_adapter; }
  QToolButton& modelsButton() { return *m_models; }

 Q_SIGNALS:
  void chosen();
  void fidelityWanted();
  void policiesWanted();  ///< a comparison of policies
  void adapterWanted();   ///< that the model gets the adapter that fits it
  void modelsWanted();    ///< the choice of models
  void stopWanted();

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void focusInEvent(QFocusEvent* event) override;
  void focusOutEvent(QFocusEvent* event) override;

 private:
  void showFidelity();
  void showAdvice();

  Answer m_answer;
  std::optional<Theme> m_theme;
  bool m_selected = false;
  ElidedLabel* m_title;
  QLabel* m_run;
  QLabel* m_policy;
  QLabel* m_text;
  QLabel* m_problem;
  QLabel* m_advice;         ///< what a person should keep in mind when reading the answer
  ElidedLabel* m_brief;     ///< the beginning of the advice in a low dock
  QToolButton* m_more;      ///< shows the whole advice
  QToolButton* m_policies;  ///< what the advice offers
  QToolButton* m_adapter;   ///< the same
  QBoxLayout* m_offers;     ///< both: one below the other where a card is narrow
  bool m_isCompact = false;
  bool m_isAdviceWanted = false;  ///< the user wants to read the whole advice
  QLabel* m_madeFor;              ///< what the model was made for, where it answers something else
  QToolButton* m_models;          ///< to choose another one
  QLabel* m_same;
  QLabel* m_facts;
  QLabel* m_fidelity;        ///< how near to a full prefill: the headline
  QProgressBar* m_progress;  ///< of its measurement
  QLabel* m_full;            ///< what a full prefill answers instead
  QToolButton* m_measure;
  QBoxLayout* m_fidelityRow;  ///< headline and button: below it where a card is narrow
  QToolButton* m_copy;
};

/// "streaming …", "waiting", "stopped", "failed"; empty once finished.
QString answerStateText(AnswerState state);

}  // namespace spanscope::ui
