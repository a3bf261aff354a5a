// SPDX-License-Identifier: GPL-3.0-or-later
// The position of the window in the trace, and the events along the trace.
#pragma once

#include "ui/session/moment.h"
#include "ui/session/view_input.h"

#include <QDate>
#include <QElapsedTimer>
#include <QObject>
#include <QString>
#include <QTimer>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace spanscope::ui {

// The runs of a document that the scrubber offers to show.

/// A run of the document that can be shown.
struct RunChoice {
  RunId run = 0;
  QString text;           ///< "run 3 · smollm2 · spans · 12:41"
  QString help;           ///< its differences from the shown run
  bool hasTrace = false;  ///< false: only its metrics are kept
  bool operator==(const RunChoice&) const = default;
};

/// Lists the runs of a document. A step of the scrubber changes the list only if a run begins at the new
/// position. The class makes a new list only if the runs have changed.
class RunChoices {
 public:
  void follow(const ViewInput& input);
  /// The document's newest run that has started at or before the position; 0: none.
  RunId shown() const { return m_shown; }
  /// The runs, the newest first. A long list has only the newest runs and the shown one.
  const std::vector<RunChoice>& all() const { return m_all; }

 private:
  struct Source {
    std::shared_ptr<const RunRecords> records;
    std::shared_ptr<const TraceStore> trace;
    std::size_t events = 0;  ///< events of the trace and of the records' traces; grows while runs go on
    std::size_t begun = 0;   ///< runs of the trace that have started at or before the position
    std::string model;
    std::vector<RunId> own;
    QDate today;  ///< labels of runs from other days have the date
    bool operator==(const Source&) const = default;
  };
  static Source sourceOf(const ViewInput& input);
  void list(const ViewInput& input);

  std::optional<Source> m_source;
  RunId m_shown = 0;
  std::vector<RunChoice> m_all;
};

enum class TickKind : std::uint8_t {
  Computed,
  Relocated,
  Hit,
  Token,
  Other  ///< any of these, of a run of another document
};
inline constexpr std::size_t kTickKinds = 5;

/// The number of events in a range of the trace, by kind.
struct TickBin {
  std::array<std::uint32_t, kTickKinds> counts{};
  bool operator==(const TickBin&) const = default;
};

/// Counts the events of a trace by kind, in bins of equal numbers of events. An update takes time only for
/// the new events. If there are more than kMostBins bins, every two become one.
class TickBins {
 public:
  static constexpr std::size_t kMostBins = 4096;

  /// `own`: the runs of the document. If the trace has no run of the document, all runs count as own runs.
  void follow(const std::shared_ptr<const TraceStore>& trace, const std::set<RunId>& own = {});
  const std::vector<TickBin>& bins() const { return m_bins; }
  std::size_t eventsPerBin() const { return m_eventsPerBin; }

 private:
  std::optional<TickKind> kindOf(const trace::Event& event) const;
  bool isOwn(RunId run) const;
  bool isOwnRequest(RequestId id) const;

  std::shared_ptr<const TraceStore> m_trace;
  std::set<RunId> m_own;  ///< own runs in the trace; empty: all runs are own
  std::size_t m_read = 0;
  std::size_t m_eventsPerBin = 1;
  std::vector<TickBin> m_bins;
};

struct RunLabel {
  RunId run = 0;
  std::size_t index = 0;  ///< index of the run's RunStarted event
  bool operator==(const RunLabel&) const = default;
};

struct ScrubberModel {
  std::size_t position = 0;
  std::size_t total = 0;
  std::vector<TickBin> bins;
  std::size_t eventsPerBin = 1;
  std::vector<RunLabel> runs;
  QString label;  ///< "event 71 of 96 · 3.1 ms"
  QString event;  ///< the last event that has happened, in plain words
  QString exact;  ///< the same event with its exact identifiers
  RunId run = 0;  ///< the document's newest run that has started at or before the position; 0: none
  std::vector<RunChoice> choices;  ///< see RunChoices::all()
  bool operator==(const ScrubberModel&) const = default;
};

ScrubberModel scrubberModel(const ViewInput& input);
/// The same, with bins and choices that the caller keeps between inputs.
ScrubberModel scrubberModel(const ViewInput& input, TickBins& bins, RunChoices& choices);
QString tickName(TickKind kind);

// Plays a trace: emits positions, and moments between events for views that show motion. New events move in
// the same way if the window shows the end of the trace. In this case, the position immediately becomes the
// newest state. The motion of the new events takes less than half a second, and later events join the motion.
// So no run waits for a picture.

class Player : public QObject {
  Q_OBJECT
 public:
  explicit Player(QObject* parent = nullptr);

  /// Follows the window's trace and position. If `position` is not the player's position, the motion ends. If
  /// the player was at the end and new events arrived, the motion of the new events starts.
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
  /// Whether the current motion shows new events. Playing is another motion.
  bool isLive() const { return m_liveClock.isActive(); }

  /// Advances playing by this time. The clock calls this function.
  void advance(double milliseconds);
  /// Advances the motion of new events by this time. If the clock is late several times, the motion takes too
  /// much time. New events then appear without motion for a while.
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
