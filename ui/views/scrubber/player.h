// SPDX-License-Identifier: GPL-3.0-or-later
// Plays a trace: tells positions, and the moments between events for views that show motion. What arrives
// while the end of a trace is in view moves in the same way: the newest state is shown at once, and what has
// arrived since gets there within less than half a second, what arrives meanwhile with it. So nothing waits
// for a picture, however fast a run is.
#pragma once

#include "ui/session/moment.h"

#include <QElapsedTimer>
#include <QObject>
#include <QTimer>

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

namespace spanscope::ui {

class Player : public QObject {
  Q_OBJECT
 public:
  explicit Player(QObject* parent = nullptr);

  /// Follows what the window shows. Where that is another place than the player's own, nothing is underway,
  /// unless it is what has arrived at the end that was in view.
  void follow(const std::shared_ptr<const TraceStore>& trace, std::size_t position);
  /// Says whether pictures may move. If not, or if nothing was set, playing shows one event after another.
  void setMotion(std::function<bool()> wanted) { m_wantsMotion = std::move(wanted); }

  bool isPlaying() const { return m_clock.isActive(); }
  /// Plays on from here; from the beginning if the end is in view.
  void setPlaying(bool playing);
  /// The speeds that can be chosen, ascending.
  static const std::vector<double>& speeds();
  double speed() const { return speeds()[m_speed]; }
  std::size_t speedIndex() const { return m_speed; }
  void setSpeed(std::size_t index);

  const Moment& moment() const { return m_moment; }
  std::size_t position() const { return m_position; }
  bool isUnderway() const { return m_moment.isUnderwayAt(m_position); }
  /// Whether what is underway has arrived by itself, and was not played.
  bool isLive() const { return m_liveClock.isActive(); }

  /// Goes so much time on while it plays. The clock calls it.
  void advance(double milliseconds);
  /// The same for what has arrived. Where the clock is late again and again, motion costs more time than
  /// there is, and what arrives is at rest for a while.
  void advanceLive(double milliseconds);
  /// Goes to a place among the events: 7.5 is where the eighth event has half happened.
  void goTo(double place);
  /// Goes a part of a beat on, or back if negative.
  void nudge(double share);
  /// Ends what is underway, as it is at its end. Returns whether something was.
  bool settle();

 Q_SIGNALS:
  void positionWanted(std::size_t position);
  void momentChanged(const spanscope::ui::Moment& moment);
  void playingChanged();

 private:
  bool wantsMotion() const { return m_wantsMotion && m_wantsMotion(); }
  std::size_t total() const { return m_trace ? m_trace->size() : 0; }
  void show(const Moment& moment, std::size_t position);
  void tick();
  void takeArrived(std::size_t first);
  void stopLive();
  void playMoving(double milliseconds);
  void playStepping(double milliseconds);

  std::shared_ptr<const TraceStore> m_trace;
  std::size_t m_position = 0;
  Moment m_moment;
  int m_beat = 0;  ///< milliseconds of the beat that is underway
  std::function<bool()> m_wantsMotion;
  std::size_t m_speed;
  double m_pace = 1;         ///< above 1 where the trace would take too long
  double m_waited = 0;       ///< milliseconds since the last event was shown, without motion
  std::size_t m_stride = 1;  ///< events shown at once, without motion
  bool m_isMoving = false;   ///< the present playing shows motion
  QTimer m_clock;
  QElapsedTimer m_since;
  QTimer m_liveClock;
  QElapsedTimer m_liveSince;
  int m_lateTicks = 0;
  QElapsedTimer m_resting;  ///< since motion cost too much; invalid: it did not
  std::size_t m_known = 0;  ///< events of the trace when it was followed last
};

}  // namespace spanscope::ui
