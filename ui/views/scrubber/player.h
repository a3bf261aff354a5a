// SPDX-License-Identifier: GPL-3.0-or-later
// Plays a trace: emits positions, and moments between events for views that show motion. New events move in
// the same way if the window shows the end of the trace. In this case, the position immediately becomes the
// newest state. The motion of the new events takes less than half a second, and later events join the motion.
// So no run waits for a picture.
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

  /// Follows the window's trace and position. Another position than the player's own ends the motion. If the
  /// player was at the end and new events arrived, the motion of the new events starts.
  void follow(const std::shared_ptr<const TraceStore>& trace, std::size_t position);
  /// Sets the function that returns whether pictures may move. If pictures may not move, or if no function is
  /// set, playing shows one event after another.
  void setMotion(std::function<bool()> wanted) { m_wantsMotion = std::move(wanted); }

  bool isPlaying() const { return m_clock.isActive(); }
  /// Starts or stops playing. Starts from the current position, or from the beginning if the position is the
  /// end.
  void setPlaying(bool playing);
  /// The speeds that can be chosen, ascending.
  static const std::vector<double>& speeds();
  double speed() const { return speeds()[m_speed]; }
  std::size_t speedIndex() const { return m_speed; }
  void setSpeed(std::size_t index);

  const Moment& moment() const { return m_moment; }
  std::size_t position() const { return m_position; }
  bool isUnderway() const { return m_moment.isUnderwayAt(m_position); }
  /// Whether the motion is of new events, and not of playing.
  bool isLive() const { return m_liveClock.isActive(); }

  /// Advances playing by this time. The clock calls this function.
  void advance(double milliseconds);
  /// Does the same for new events. If the clock is late several times, motion takes too much time. New events
  /// then do not move for a while.
  void advanceLive(double milliseconds);
  /// Goes to a place among the events: 7.5 is halfway through the eighth event.
  void goTo(double place);
  /// Moves by a part of a beat, backwards if negative.
  void nudge(double share);
  /// Ends the motion at its final state. Returns whether there was a motion.
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
  int m_beat = 0;  ///< duration of the current beat, milliseconds
  std::function<bool()> m_wantsMotion;
  std::size_t m_speed;
  double m_pace = 1;         ///< above 1 if the trace would take too long
  double m_waited = 0;       ///< milliseconds since the last event was shown, without motion
  std::size_t m_stride = 1;  ///< events shown at the same time, without motion
  bool m_isMoving = false;   ///< the current playing shows motion
  QTimer m_clock;
  QElapsedTimer m_since;
  QTimer m_liveClock;
  QElapsedTimer m_liveSince;
  int m_lateTicks = 0;
  QElapsedTimer m_resting;  ///< time since motion was too slow; invalid: motion was never too slow
  std::size_t m_known = 0;  ///< events of the trace in the last follow()
};

}  // namespace spanscope::ui
