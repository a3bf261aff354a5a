// SPDX-License-Identifier: GPL-3.0-or-later
// The time strip: controls that step and play through the events of a trace.
#pragma once

#include "ui/views/common/input_view.h"
#include "ui/views/scrubber/scrubber_model.h"

class QComboBox;
class QLabel;
class QToolButton;

namespace spanscope::ui {

class ScrubberTrack;

class Scrubber : public RunView {
  Q_OBJECT
 public:
  explicit Scrubber(QWidget* parent = nullptr);

  void paintTo(QPainter& painter, const QSize& size) override;
  QString csv() const override;

  const ScrubberModel& model() const { return m_model; }
  ScrubberTrack& track() { return *m_track; }
  QString label() const;
  /// The totals of the marked range as text; empty: no range is marked.
  QString totalsText() const;
  void copyTotals() const;

  bool isPlaying() const { return m_player.isPlaying(); }
  void setPlaying(bool playing);
  Player& player() { return m_player; }
  void setMotion(std::function<bool()> allowed) override { m_player.setMotion(std::move(allowed)); }
  void step(std::int64_t events);
  void toStart();
  void toEnd();

 protected:
  void refresh() override;
  QString emptyText() const override;
  void keyPressEvent(QKeyEvent* event) override;
  bool event(QEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  enum class Glyph { First, Back, Play, Pause, Next, Last };
  QToolButton* makeButton(const QString& name, const QString& tip);
  void drawIcons();
  QString runsTip() const;
  void fillRuns();
  void showTotals();
  /// Shortens the label and hides the names of the track's ends if there is no room for them.
  void fitLabels();
  QIcon icon(Glyph glyph) const;
  void makeSpeed();
  void showSpeed();
  void showMoment(const Moment& moment);
  void go(std::size_t position);

  ScrubberModel m_model;
  TickBins m_bins;
  RunChoices m_choices;
  std::vector<RunChoice> m_offered;  ///< the runs that m_runs offers
  bool m_drawn = false;
  Theme m_shown;
  QToolButton* m_first;
  QToolButton* m_back;
  QToolButton* m_playButton;
  QToolButton* m_next;
  QToolButton* m_last;
  ScrubberTrack* m_track;
  QComboBox* m_runs;
  QLabel* m_start = nullptr;  ///< name of the track's left end
  QLabel* m_end = nullptr;    ///< name of the track's right end
  QLabel* m_label;
  QLabel* m_totals;
  QToolButton* m_copy;
  std::size_t m_totalled = 0;  ///< events of the trace when the totals were made
  QToolButton* m_speed;
  Player m_player;
};

}  // namespace spanscope::ui
