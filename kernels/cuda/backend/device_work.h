// SPDX-License-Identifier: GPL-3.0-or-later
// The work of a backend for its GPU, in order. The work runs immediately, or is noted first. If the notes
// equal those of a recorded graph, including all pointers, the graph is replayed. A graph therefore never
// reads memory that has moved. Products of few rows wait for other work. Consecutive products can then become
// one launch. Open this file to change graphs.
#pragma once

#include "kernels/cuda/product/few_row_product.h"
#include "kernels/cuda/runtime.h"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <stop_token>
#include <utility>
#include <vector>

namespace spanscope::cuda {

/// Counts of the noted work of a backend.
struct GraphCounts {
  std::int64_t captures = 0;  ///< graphs that were recorded
  std::int64_t replays = 0;   ///< replays of graphs
  std::int64_t given = 0;     ///< lists of notes that were run one by one
  std::int64_t dropped = 0;   ///< graphs that were dropped for others
  std::int64_t notes = 0;     ///< operations in the last recorded graph
  bool operator==(const GraphCounts&) const = default;
};

/// Products of few rows that wait to become one launch. At most kMostFewRowWeights products with the same x
/// wait. Joined products give exactly the results of separate products, because no product writes memory that
/// another product reads or writes. The object contains only pointers. The owner of the object must keep the
/// pointers valid, and must not let later work overtake the products.
class JoinedProducts {
 public:
  /// Adds a product that the kernel can compute. Returns false and changes nothing if the product cannot be
  /// joined with the waiting products. If no product waits, a product can always be added.
  bool join(const FewRowProduct& product);

  bool isEmpty() const { return m_waiting.count == 0; }
  /// Removes and returns all waiting products.
  FewRowProduct take();
  void clear() { m_waiting = {}; }

 private:
  FewRowProduct m_waiting;
};

/// Limits the work that waits for the GPU. A stop must wait until all this work has ended.
class WorkInFlight {
 public:
  WorkInFlight(const Device& device, Stream& stream) : m_device(device), m_stream(stream) {}

  /// Call this once for each piece of work of about the same length, such as a layer. The function waits
  /// until at most `milliseconds` of work are ahead, estimated from earlier pieces.
  void limit(double milliseconds);
  /// Call this after a wait for the stream.
  void clear();

 private:
  /// Adds a point after all current work.
  void addPoint();
  void dropFirstPoint();

  Device m_device;
  Stream& m_stream;
  std::deque<Event> m_points;
  std::vector<Event> m_free;  ///< for reuse: making and freeing an event takes longer than a short layer
  double m_piece = 0;         ///< milliseconds of the latest finished piece
};

/// An operation on a stream, with its arguments. Equal notes describe the same work.
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

/// A copy to host memory.
struct CopyToHost {
  void* target = nullptr;
  const void* source = nullptr;
  std::size_t bytes = 0;
  bool operator==(const CopyToHost&) const = default;
};
void copyToHost(Stream& stream, const CopyToHost& copy);

/// Writes zeros to memory of the GPU.
struct Zeros {
  void* target = nullptr;
  std::size_t bytes = 0;
  bool operator==(const Zeros&) const = default;
};
void writeZeros(Stream& stream, const Zeros& zeros);

struct DeviceWorkOptions {
  /// Max work ahead of the GPU. A longer graph is run piece by piece.
  double mostMilliseconds = 50;
  bool hasGraphs = true;
  std::size_t mostGraphs = 32;               ///< the least recently used graph is dropped for a new one
  std::shared_ptr<GraphCounts> counts = {};  ///< counts for callers that read them
};

class DeviceWork {
 public:
  DeviceWork(const Device& device, DeviceWorkOptions options);
  DeviceWork(const DeviceWork&) = delete;
  DeviceWork& operator=(const DeviceWork&) = delete;

  /// Call this at the beginning of a forward pass.
  void begin(std::stop_token stop);
  /// Call this between pieces of work, such as layers. The function waits until little work is ahead.
  bool stopped();
  /// Whether stopped(), or later work, has found a request to stop.
  bool wasStopped() const { return m_stopped; }
  bool isStopRequested() { return m_stopped = m_stopped || m_stop.stop_requested(); }

  template <std::equality_comparable Arguments>
  void give(void (*operation)(Stream&, const Arguments&), const Arguments& arguments) {
    giveJoined();
    giveAlone(operation, arguments);
  }
  /// Adds a product of few rows. The product and neighbouring products become one launch if the results stay
  /// the same.
  void giveProduct(const FewRowProduct& product) {
    if (m_joined.join(product)) return;
    giveJoined();
    m_joined.join(product);
  }

  /// From now on, work is noted and not run. The inputs of the notes must stay valid until replay(), flush()
  /// or drop().
  void note();
  /// Runs the notes as a graph, if a graph with equal notes exists. Otherwise runs the notes one by one and
  /// records a graph for the next time.
  void replay();
  /// Runs the notes one by one.
  void flush();
  /// Drops the notes and does nothing else.
  void drop();
  /// Frees memory that notes may use. The memory stays as long as there are notes. Without notes, the waiting
  /// products first go to the stream. Freeing the memory then waits for the GPU.
  void keep(DeviceMemory memory);
  /// Works like keep(), for destructors: errors are not reported.
  void keepForGood(DeviceMemory memory) noexcept;

  /// Returns the stream, after all earlier work was put on it.
  Stream& stream() {
    flush();
    return m_stream;
  }
  /// Waits for all work. Throws the errors of kernels.
  void synchronize();

 private:
  using Notes = std::vector<std::unique_ptr<Note>>;
  struct Kept {
    Notes notes;
    std::unique_ptr<Graph> graph;  ///< null: the graph takes too long, or cannot be recorded
    std::uint64_t lastUse = 0;
  };

  template <class Arguments>
  void giveAlone(void (*operation)(Stream&, const Arguments&), const Arguments& arguments) {
    if (m_isNoting)
      m_notes.push_back(std::make_unique<NoteOf<Arguments>>(operation, arguments));
    else
      operation(m_stream, arguments);
  }
  /// Call this before other work goes to the stream or to the notes.
  void giveJoined() {
    if (!m_joined.isEmpty()) giveAlone(multiplyFewRows, m_joined.take());
  }
  Kept* find();
  void giveNotes();
  void capture();

  Device m_device;
  Stream m_stream;
  DeviceWorkOptions m_options;
  WorkInFlight m_inFlight;
  std::stop_token m_stop;
  bool m_stopped = false;

  bool m_isNoting = false;
  JoinedProducts m_joined;  ///< products after the last note or, without notes, after the work in the stream
  Notes m_notes;
  std::vector<DeviceMemory> m_keptMemory;
  std::vector<std::size_t> m_marks;  ///< number of notes at each call of stopped()
  std::vector<std::unique_ptr<Kept>> m_kept;
  std::uint64_t m_uses = 0;
  Kept* m_replayed = nullptr;  ///< the graph that was replayed between these two events
  Event m_replayBegin;
  Event m_replayEnd;
};

}  // namespace spanscope::cuda
