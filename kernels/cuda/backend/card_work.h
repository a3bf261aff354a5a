// SPDX-License-Identifier: GPL-3.0-or-later
// What a backend gives to its card, in order: at once, or noted first. Notes that equal those of a graph to
// the last pointer are a replay of it, so that a graph can never read what has moved. Products of few rows
// wait until something else comes, so that those that follow each other are one launch.
#pragma once

#include "kernels/cuda/backend/graph_counts.h"
#include "kernels/cuda/backend/joined_products.h"
#include "kernels/cuda/backend/work_in_flight.h"
#include "kernels/cuda/runtime.h"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <utility>
#include <vector>

namespace spanscope::cuda {

/// An operation on a stream with its arguments, of which equal ones do the same.
class Note {
 public:
  virtual ~Note() = default;
  virtual void give(Stream& stream) const = 0;
  virtual bool equals(const Note& other) const = 0;
};

template <std::equality_comparable Arguments>
class NoteOf final : public Note {
 public:
  using Operation = void (*)(Stream&, const Arguments&);
  NoteOf(Operation operation, const Arguments& arguments) : m_operation(operation), m_arguments(arguments) {}

  void give(Stream& stream) const override { m_operation(stream, m_arguments); }
  bool equals(const Note& other) const override {
    const auto* const same = dynamic_cast<const NoteOf*>(&other);
    return same != nullptr && same->m_operation == m_operation && same->m_arguments == m_arguments;
  }

 private:
  Operation m_operation;
  Arguments m_arguments;
};

/// A copy to memory of the host.
struct CopyToHost {
  void* target = nullptr;
  const void* source = nullptr;
  std::size_t bytes = 0;
  bool operator==(const CopyToHost&) const = default;
};
void copyToHost(Stream& stream, const CopyToHost& copy);

/// Zeros in memory of the card.
struct Zeros {
  void* target = nullptr;
  std::size_t bytes = 0;
  bool operator==(const Zeros&) const = default;
};
void writeZeros(Stream& stream, const Zeros& zeros);

struct CardWorkOptions {
  /// How much work may lie ahead of the card; a graph that takes longer is given piece by piece.
  double mostMilliseconds = 50;
  bool hasGraphs = true;
  std::size_t mostGraphs = 32;               ///< what was not used for longest gives way
  std::shared_ptr<GraphCounts> counts = {};  ///< filled, if somebody wants to know
};

class CardWork {
 public:
  CardWork(const Device& device, CardWorkOptions options);
  CardWork(const CardWork&) = delete;
  CardWork& operator=(const CardWork&) = delete;

  /// Of a pass.
  void begin(std::stop_token stop);
  /// To be asked between pieces of work, such as layers: waits until little of it lies ahead.
  bool stopped();
  /// Whether that, or what was given since, has found a stop.
  bool wasStopped() const { return m_stopped; }
  bool isStopRequested() { return m_stopped = m_stopped || m_stop.stop_requested(); }

  template <std::equality_comparable Arguments>
  void give(void (*operation)(Stream&, const Arguments&), const Arguments& arguments) {
    giveJoined();
    giveAlone(operation, arguments);
  }
  /// The same for a product of few rows, which becomes one launch with those before and behind it where that
  /// gives the same.
  void giveProduct(const FewRowProduct& product) {
    if (m_joined.join(product)) return;
    giveJoined();
    m_joined.join(product);
  }

  /// From here on what is given is noted. What the notes read must stay until one of the following.
  void note();
  /// Gives what was noted to the stream, by a graph: one that is there, else the notes go one by one and are
  /// recorded for the next time.
  void replay();
  /// Gives what was noted one by one.
  void flush();
  /// Forgets what was noted, and nothing else.
  void drop();
  /// Keeps memory that notes may use for as long as there are any, and gives it back behind what waits to be
  /// joined. The card has to be waited for to give it back, which memory does by itself.
  void keep(DeviceMemory memory);
  /// The same for those who go themselves: what fails is not told.
  void keepForGood(DeviceMemory memory) noexcept;

  /// The stream, which has all that was given before.
  Stream& stream() {
    flush();
    return m_stream;
  }
  /// Waits for all that was given. Throws what kernels threw.
  void synchronize();

 private:
  using Notes = std::vector<std::unique_ptr<Note>>;
  struct Kept {
    Notes notes;
    std::unique_ptr<Graph> graph;  ///< null: it takes too long, or cannot be recorded
    std::uint64_t lastUse = 0;
  };

  template <class Arguments>
  void giveAlone(void (*operation)(Stream&, const Arguments&), const Arguments& arguments) {
    if (m_isNoting)
      m_notes.push_back(std::make_unique<NoteOf<Arguments>>(operation, arguments));
    else
      operation(m_stream, arguments);
  }
  /// To be called before anything else goes to the stream or to the notes.
  void giveJoined() {
    if (!m_joined.isEmpty()) giveAlone(multiplyFewRows, m_joined.take());
  }
  Kept* find();
  void giveNotes();
  void capture();

  Device m_device;
  Stream m_stream;
  CardWorkOptions m_options;
  WorkInFlight m_inFlight;
  std::stop_token m_stop;
  bool m_stopped = false;

  bool m_isNoting = false;
  JoinedProducts m_joined;  ///< behind the last note, or behind all that the stream has
  Notes m_notes;
  std::vector<DeviceMemory> m_keptMemory;
  std::vector<std::size_t> m_marks;  ///< how many notes there were when `stopped` was asked
  std::vector<std::unique_ptr<Kept>> m_kept;
  std::uint64_t m_uses = 0;
  Kept* m_replayed = nullptr;  ///< between these two events
  Event m_replayBegin;
  Event m_replayEnd;
};

}  // namespace spanscope::cuda
