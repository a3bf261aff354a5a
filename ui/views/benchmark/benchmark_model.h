// SPDX-License-Identifier: GPL-3.0-or-later
// The results of a benchmark: a table, remarks and the points of a plot.
#pragma once

#include "ui/session/measure_requests.h"
#include "ui/session/measured_jobs.h"
#include "ui/session/view_input.h"
#include "ui/views/common/table_painting.h"

#include <QString>
#include <QStringList>

#include <cstddef>
#include <vector>

namespace spanscope::ui {

enum class RemarkKind {
  Plain,
  Warning,  ///< the values do not belong to the current document, or there are no values
};

struct BenchmarkRemark {
  RemarkKind kind = RemarkKind::Plain;
  QString text;
  bool operator==(const BenchmarkRemark&) const = default;
};

/// A repeated measurement, in milliseconds.
struct MeasuredPoint {
  double x = 0;  ///< place of the case, or number of tokens of a document
  double median = 0;
  double least = 0;
  double most = 0;
  std::vector<double> samples;
  QString text;  ///< for the tool tip
  bool operator==(const MeasuredPoint&) const = default;
};

struct MeasuredSeries {
  experiment::RunCase runCase = experiment::RunCase::Cold;
  QString name;
  std::vector<MeasuredPoint> points;
  bool operator==(const MeasuredSeries&) const = default;
};

struct BenchmarkModel {
  BenchmarkKind kind = BenchmarkKind::Query;
  bool isKnown = false;  ///< there is a finished or running benchmark
  bool isRunning = false;
  double progress = 0;  ///< 0 … 1
  QString doing;        ///< the current action of a running benchmark
  QString setup;        ///< "7 repeats · spanlet · CPU, 2 threads · blocks of 16 tokens"
  PaintedTable table;   ///< a row for each case or length
  std::vector<BenchmarkRemark> remarks;
  QString xName;
  QString yName;
  std::vector<MeasuredSeries> series;
  bool operator==(const BenchmarkModel&) const = default;
};

BenchmarkModel benchmarkModel(const ViewInput& input);

/// All samples, one per line.
QString benchmarkCsv(const Benchmark& benchmark);
/// The shown table as text, with tabs between the cells.
QString benchmarkText(const BenchmarkModel& model);

// Remarks on the values of a benchmark: conclusions, and values that were not measured.

/// Adds remarks on the whole benchmark: whether it measured the current document, how it ended, and its pool.
void addStateRemarks(const MeasuredJob& job, const Benchmark& benchmark, const document::Document& document,
                     std::vector<BenchmarkRemark>& remarks);
/// Adds remarks on the cases: conclusions, missing cases, and different answers.
void addCaseRemarks(const Benchmark& benchmark, const std::vector<experiment::CaseSummary>& cases,
                    std::vector<BenchmarkRemark>& remarks);
void addLengthRemarks(const Benchmark& benchmark, std::vector<BenchmarkRemark>& remarks);

/// "57×", "3.1×", "0.80×"
QString timesText(double factor);

}  // namespace spanscope::ui
