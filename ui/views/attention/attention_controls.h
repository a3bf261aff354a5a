// SPDX-License-Identifier: GPL-3.0-or-later
// The controls in the title bar of the attention view: layer, head, and a menu of what to show. A strip above
// the display reports the attention that was not recorded. The button of the strip recomputes this attention.
#pragma once

#include "engine/jobs/attention_replay.h"
#include "ui/session/view_input.h"
#include "ui/theme/theme.h"
#include "ui/views/attention/attention_model.h"

#include <QObject>
#include <QPointer>
#include <QString>
#include <QWidget>

#include <cstdint>
#include <optional>

class QActionGroup;
class QComboBox;
class QHBoxLayout;
class QMenu;
class QToolButton;

namespace spanscope::ui {

enum class AttentionDisplay : std::uint8_t {
  Words,  ///< the words of the prompt, with the attention of the answer to each word
  Map,    ///< a heat map of rows and keys
  Heads   ///< a small heat map of each head, to choose one
};

class AttentionControls : public QObject {
  Q_OBJECT
 public:
  /// Puts its widgets into `row`. The widgets may be destroyed before this object.
  AttentionControls(QHBoxLayout& row, QObject* parent);

  /// Offers the layers and heads of the model and shows the given ones as chosen.
  void showChoice(const AttentionModel& model, const std::optional<std::int32_t>& layer,
                  const std::optional<std::int32_t>& head);
  void showDisplay(AttentionDisplay display);

 Q_SIGNALS:
  void choiceMade(const std::optional<std::int32_t>& layer, const std::optional<std::int32_t>& head);
  void displayChosen(spanscope::ui::AttentionDisplay display);
  void sinkToggled(bool shows);  ///< show or hide attention sinks in the map: the first tokens of segments
  void rowsChosen(spanscope::ui::AttentionRowSet rows);
  void scaleChosen(spanscope::ui::AttentionScale scale);

 private:
  void addChoosers(QHBoxLayout& row);
  void addMenu(QHBoxLayout& row);
  void addRowsAndScales(QMenu& menu);

  QPointer<QComboBox> m_layer;
  QPointer<QComboBox> m_head;
  QPointer<QToolButton> m_show;
  QPointer<QActionGroup> m_displays;  ///< in the order of AttentionDisplay
  bool m_filling = false;
};

}  // namespace spanscope::ui
class QLabel;
class QPushButton;

namespace spanscope::ui {

// Describes the missing attention of the shown layer and head, and the replay that can compute this
// attention.

struct ReplayOffer {
  /// The missing attention and the reason why no replay can run now, or the recomputed attention. May be
  /// empty.
  QString text;
  std::optional<jobs::ReplayChoice> choice;  ///< what a replay would compute; none: nothing is missing
  bool canCompute = false;
  bool isComputing = false;  ///< `choice` is being computed now
  bool operator==(const ReplayOffer&) const = default;
};

ReplayOffer replayOffer(const ViewInput& input, const AttentionModel& model, const AttentionOptions& options);

class ReplayStrip : public QWidget {
  Q_OBJECT
 public:
  explicit ReplayStrip(QWidget* parent = nullptr);

  void setContent(const ReplayOffer& offer, const Theme& theme);
  const ReplayOffer& offer() const { return m_offer; }
  QPushButton& button() { return *m_button; }

 Q_SIGNALS:
  void computeWanted();
  void stopWanted();

 private:
  ReplayOffer m_offer;
  QLabel* m_text;
  QPushButton* m_button;
};

}  // namespace spanscope::ui
