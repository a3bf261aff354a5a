// SPDX-License-Identifier: GPL-3.0-or-later
// Defines jobs that measure. Most measure in sessions of their own, so that the open session keeps its cache.
// Runs can execute between two steps of the measurement. The result is an event of the trace, even if the job
// fails or is stopped.
//
// A kind that measures has these members beside those in engine/jobs/job.h. The constant kScope is
// Scope::Document or Scope::Program. The function takesQuery() returns whether the job measures the query of
// a document. The function completed() adds values from the input to the arguments. The function completed()
// throws Failure if the job is not possible. The function begun() returns a Result before anything is
// measured. The function progress() returns the share of a Result that is measured, 0 … 1. The function
// activity() returns the current activity, marked for translation in the context "Events". The function
// measure() measures into a Result. If measure() throws, the Result keeps its contents.
#pragma once

#include "engine/experiment/token_amount.h"
#include "engine/jobs/job.h"
#include "engine/workbench/model_bundle.h"
#include "engine/workbench/service/indexing.h"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

namespace spanscope::jobs {

/// Predicts the remaining time of a measurement. The time of other jobs between two steps does not count.
class MeasureClock {
 public:
  void begin() {
    m_begin = Time::now();
    m_passed = {};
  }
  /// Sets the amount of each step, and the seconds of the whole job if they are known.
  void expect(experiment::RemainingTime steps, std::optional<double> seconds) {
    m_steps = std::move(steps);
    m_seconds = seconds;
  }
  /// Calls `pass`, whose time does not count.
  void leaveOut(const std::function<void()>& pass);
  /// `progress`: the completed share, 0 … 1. Returns nothing before begin(), or if too little is done.
  std::optional<double> secondsLeft(double progress) const;

 private:
  using Time = std::chrono::steady_clock;
  experiment::RemainingTime m_steps;
  std::optional<double> m_seconds;
  std::optional<Time::time_point> m_begin;
  Time::duration m_passed{};
};

/// The code that all measuring jobs share. Kinds call the functions from place() on in their measure(), on
/// the engine's thread.
class Measurement : public RecordedJob {
 public:
  double share() const override { return m_progress.get().share; }
  std::optional<double> secondsLeft() const override { return m_progress.get().secondsLeft; }
  std::optional<retrieve::IndexProgress> indexing() const override { return m_indexing.progress(); }
  /// The estimate before the first step. Nothing: the amount is not known. Any thread may call this function.
  std::optional<JobEstimate> estimate() const { return m_estimate.get(); }

  workbench::JobContext& place() const { return *m_place; }
  workbench::ModelBundle& model() const { return *m_model; }
  const JobInput& input() const { return m_input; }
  /// The measured query, with its augments resolved.
  const query::Node& query() const { return m_input.query; }
  const std::stop_token& stop() const { return m_stop; }
  MeasureClock& clock() { return m_clock; }
  /// The configuration of sessions that measure.
  run::SessionConfig sessionConfig() const;
  /// Publishes the result so far, and notifies the client.
  void report();
  /// Lets waiting jobs run before it returns. Kinds call this function between two steps.
  void pass();
  void setEstimate(const JobEstimate& estimate);

 protected:
  Measurement(const char* kind, trace::PackedValue arguments, JobInput input);

  /// Measures when the model is loaded and the query is known.
  virtual void measure() = 0;
  /// Makes the result so far visible to other threads; returns the completed share, 0 … 1.
  virtual double publish() = 0;

 private:
  workbench::Begun start(workbench::JobContext& place, const std::stop_token& stop) final;

  struct Progress {
    double share = 0;
    std::optional<double> secondsLeft{};
  };
  JobInput m_input;
  workbench::JobContext* m_place = nullptr;         ///< while it measures
  std::shared_ptr<workbench::ModelBundle> m_model;  ///< other jobs may load another model between two steps
  std::stop_token m_stop;
  workbench::Indexing m_indexing;
  MeasureClock m_clock;
  workbench::Published<Progress> m_progress;
  workbench::Published<std::optional<JobEstimate>> m_estimate;
};

template <class Kind>
class MeasuringJob final : public Measurement {
 public:
  using Result = typename Kind::Result;

  MeasuringJob(typename Kind::Arguments arguments, JobInput input)
      : Measurement(Kind::kId, trace::pack(arguments), std::move(input)),
        m_arguments(std::move(arguments)),
        m_now(Kind::begun(m_arguments)),
        m_published(std::make_shared<const Result>(m_now)) {}

  trace::EventWords activity() const override { return Kind::activity(*found()); }
  /// The result so far; never null. Any thread may call this function.
  std::shared_ptr<const Result> found() const { return m_published.get(); }
  std::shared_ptr<const void> resultSoFar() const override { return found(); }

 private:
  void measure() override { Kind::measure(m_now, m_arguments, *this); }
  double publish() override {
    m_published.set(std::make_shared<const Result>(m_now));
    return Kind::progress(m_now);
  }
  trace::PackedValue result() const override { return trace::pack(m_now); }

  typename Kind::Arguments m_arguments;
  Result m_now;  ///< of the engine's thread
  workbench::Published<std::shared_ptr<const Result>> m_published;
};

}  // namespace spanscope::jobs
