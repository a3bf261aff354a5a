// SPDX-License-Identifier: GPL-3.0-or-later
// Time to open a recording of 1 000 000 events, to show each view of it, and to step through it. The events
// are those of real runs of the RAG example; once the cache is warm, the last run is repeated with new
// numbers. The same views with a run over twenty documents (some 3 700 tokens). With the argument "crowded":
// time and memory to open the recording of many requests at once, with long span tables and long answers.
#include "engine/trace/trace_file.h"
#include "tests/ui/views/common/recorded_runs.h"
#include "tests/ui/views/common/twenty_documents.h"
#include "ui/views/view.h"

#include <QApplication>
#include <QElapsedTimer>
#include <QFileInfo>
#include <QTemporaryDir>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

using namespace spanscope;

namespace {

constexpr std::size_t kEvents = 1'000'000;
constexpr int kOpenings = 5;

double milliseconds(const QElapsedTimer& timer) {
  return double(timer.nsecsElapsed()) / 1e6;
}

/// Resident memory of this process in MiB.
double residentMebibytes() {
  std::ifstream status("/proc/self/statm");
  double pages = 0;
  status >> pages >> pages;
  return pages * 4096 / (1024 * 1024);
}

/// Writes the events, then the last run of them again and again.
void writeLong(const std::filesystem::path& path, const std::vector<trace::Event>& events) {
  const auto isStart = [](const trace::Event& event) {
    return std::holds_alternative<trace::CacheCleared>(event.payload);
  };
  const auto lastStart = std::find_if(events.rbegin(), events.rend(), isStart).base() - 1;
  const std::vector<trace::Event> repeated(lastStart, events.end());
  RequestId mostRequests = 0;
  for (const trace::Event& event : events) mostRequests = std::max(mostRequests, event.request);
  RequestId firstRequest = mostRequests;
  for (const trace::Event& event : repeated) {
    if (event.request != 0) firstRequest = std::min(firstRequest, event.request);
  }
  const RequestId requests = mostRequests - firstRequest + 1;
  const std::int64_t length = events.back().time - repeated.front().time + 1'000'000;

  trace::TraceWriter writer(path, {.program = "bench_trace", .createdAt = 0});
  for (const trace::Event& event : events) writer.append(event);
  std::size_t count = events.size();
  for (std::uint64_t copy = 1; count < kEvents; ++copy) {
    for (trace::Event event : repeated) {
      event.sequence += copy * repeated.size();
      event.time += static_cast<std::int64_t>(copy) * length;
      if (event.run != 0) event.run += static_cast<RunId>(copy);
      if (event.request != 0) event.request += static_cast<RequestId>(copy * requests);
      if (auto* pass = std::get_if<trace::BatchComputed>(&event.payload)) {
        for (trace::BatchEntry& entry : pass->entries)
          entry.request += static_cast<RequestId>(copy * requests);
      }
      writer.append(event);
      if (++count == kEvents) break;
    }
  }
  writer.finish();
}

void writeCrowded(const std::filesystem::path& path) {
  constexpr RequestId kRequests = 64;
  constexpr std::int32_t kPrompt = 2000;
  constexpr std::int32_t kAnswer = 1500;
  constexpr std::int32_t kBlock = 16;
  trace::TraceWriter writer(path, {.program = "bench_trace", .createdAt = 0});
  trace::Event event;
  const auto send = [&](RequestId request, trace::Payload payload) {
    ++event.sequence;
    event.time += 10'000;
    event.session = 1;
    event.run = 1;
    event.request = request;
    event.payload = std::move(payload);
    writer.append(event);
  };
  trace::SessionStarted session;
  session.pool.blocks.resize(1 + std::size_t{kRequests} * ((kPrompt + kAnswer) / kBlock + 1));
  for (std::size_t block = 1; block < session.pool.blocks.size(); ++block)
    session.pool.freeOrder.push_back(static_cast<BlockId>(block));
  send(0, session);
  send(0, trace::RunStarted{.queryJson = "{}", .policy = "spans", .seed = 1});
  BlockId next = 0;
  for (RequestId request = 1; request <= kRequests; ++request) {
    trace::SegmentInfo segment;
    for (std::int32_t i = 0; i < kPrompt; ++i) {
      segment.tokens.push_back(
          static_cast<TokenId>((request * 7919 + static_cast<RequestId>(i) * 104'729) % 32'000));
      segment.texts.push_back(" word" + std::to_string(segment.tokens.back()));
    }
    send(request, trace::StepStarted{.step = request - 1, .copy = 0});
    send(request, trace::SpanTableLaidOut{.segments = {segment}});
    for (std::int32_t block = 0; block < kPrompt / kBlock; ++block) {
      trace::BlockLookedUp lookup;
      lookup.virtualIndex = block;
      lookup.wanted = kBlock;
      send(request, lookup);
      send(request, trace::BlockAllocated{.block = ++next, .segment = 0, .virtualIndex = block});
    }
  }
  trace::BatchComputed pass{.entries = {}, .nanoseconds = 1000};
  for (RequestId request = 1; request <= kRequests; ++request)
    pass.entries.push_back({.request = request, .segment = 0, .begin = kPrompt, .count = 1, .decode = true});
  for (std::int32_t i = 0; i < kAnswer; ++i) {
    send(0, pass);
    for (RequestId request = 1; request <= kRequests; ++request) {
      const std::int32_t place = kPrompt + i;
      if (place % kBlock == 0)
        send(request, trace::BlockAllocated{.block = ++next, .segment = 0, .virtualIndex = place / kBlock});
      send(request, trace::TokenGenerated{.index = i,
                                          .token = 5,
                                          .text = " word",
                                          .shown = " word",
                                          .probability = 0.5F,
                                          .segmentMass = {1.0F}});
    }
  }
  writer.finish();
}

void openCrowded(const std::filesystem::path& path) {
  writeCrowded(path);
  const double before = residentMebibytes();
  QElapsedTimer timer;
  timer.start();
  const ui::TraceStore store = ui::TraceStore::open(path);
  const double opened = milliseconds(timer);
  const double after = residentMebibytes();
  timer.restart();
  (void)store.stateAt(store.size() / 2);
  std::printf(
      "crowded: %zu events (%.1f MiB)   open %7.0f ms   resident %.0f MiB more   back to the middle %.1f "
      "ms\n",
      store.size(), double(QFileInfo(QString::fromStdString(path.string())).size()) / (1024 * 1024), opened,
      after - before, milliseconds(timer));
}

/// Shows each view at the end, in the middle and step by step from there.
void showAll(ui::ViewInput input) {
  const std::size_t size = input.trace->size();
  for (const ui::ViewInfo& info : ui::viewTable()) {
    const std::unique_ptr<ui::View> view(info.make(nullptr));
    view->resize(1280, 800);
    view->show();
    QCoreApplication::processEvents();
    const auto give = [&](std::size_t position) {
      input.position = position;
      QElapsedTimer timer;
      timer.start();
      view->setInput(input);
      view->repaint();
      QCoreApplication::processEvents();
      return milliseconds(timer);
    };
    const double first = give(size);
    const double middle = give(size / 2);
    std::vector<double> steps;
    for (std::size_t i = 1; i <= 20; ++i) steps.push_back(give(size / 2 + i));
    std::sort(steps.begin(), steps.end());
    std::printf("%-14s shown %7.1f ms   jump to the middle %7.1f ms   step median %6.2f ms, most %6.2f ms\n",
                qPrintable(info.id), first, middle, steps[10], steps.back());
  }
}

void openAndShow(const std::filesystem::path& path, const test::Recorded& recorded) {
  std::vector<double> times;
  std::shared_ptr<const ui::TraceStore> store;
  for (int i = 0; i < kOpenings; ++i) {
    store.reset();
    QElapsedTimer timer;
    timer.start();
    store = std::make_shared<const ui::TraceStore>(ui::TraceStore::open(path));
    times.push_back(milliseconds(timer));
  }
  std::sort(times.begin(), times.end());
  std::printf("open %zu events (%.1f MiB)     median %7.0f ms   %.0f to %.0f ms   resident %.0f MiB\n",
              store->size(), double(QFileInfo(QString::fromStdString(path.string())).size()) / (1024 * 1024),
              times[kOpenings / 2], times.front(), times.back(), residentMebibytes());
  if (!store->contradictions().empty())
    std::printf("contradictions: %s\n", store->contradictions().front().message().c_str());

  ui::ViewInput input;
  input.document = recorded.document;
  input.trace = store;
  input.paths = recorded.paths;
  // As the window keeps them.
  input.identities = std::make_shared<const ui::SegmentIdentities>(
      ui::SegmentRecords().read(*input.document, *input.trace, input.paths));
  showAll(input);
  std::printf("20 documents\n");
  showAll(test::twentyDocuments());
}

}  // namespace

int main(int argc, char** argv) {
  if (qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM")) qputenv("QT_QPA_PLATFORM", "offscreen");
  const QApplication application(argc, argv);
  const QTemporaryDir folder;
  const std::filesystem::path path = folder.filePath(QStringLiteral("long.spantrace")).toStdString();
  if (argc > 1 && std::string(argv[1]) == "crowded") {
    openCrowded(path);
    return 0;
  }
  test::RunRecorder recorder;
  for (int i = 0; i < 4; ++i) {
    recorder.clearCache();
    recorder.run(test::exampleDocument("rag.json"));
  }
  const test::Recorded recorded = recorder.recorded();
  writeLong(path, recorded.events);
  openAndShow(path, recorded);
  return 0;
}
