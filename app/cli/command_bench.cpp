// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/cli/bench_report.h"
#include "app/cli/command.h"
#include "app/cli/command_service.h"
#include "app/cli/option_values.h"
#include "app/cli/session_options.h"
#include "app/cli/terminal_output.h"
#include "engine/base/counted.h"
#include "engine/compute/weight_format/weight_format.h"
#include "engine/experiment/abba.h"
#include "engine/experiment/speed.h"
#include "engine/jobs/bench_jobs.h"
#include "engine/jobs/benches.h"
#include "engine/run/run_options.h"
#include "engine/trace/sink.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace spanscope::cli {
namespace {

constexpr std::int32_t kMostTokens = 1'000'000;
constexpr std::int32_t kMostRepeats = 100'000;

struct BenchCommandOptions : BenchOptions {
  std::string format;  ///< format of the weights; empty: bf16
  experiment::AbbaOptions abba;
  std::int32_t promptTokens = 512;
  std::int32_t generatedTokens = 64;
  std::vector<std::int32_t> depths = {0};
  std::int32_t repeats = 5;
};

std::vector<std::string> formatNames() {
  std::vector<std::string> names;
  for (const compute::WeightFormatInfo& info : compute::weightFormats()) names.emplace_back(info.name);
  return names;
}

/// "F32, F16, …"
std::string formatList() {
  std::string list;
  for (const std::string& name : formatNames()) list += (list.empty() ? "" : ", ") + name;
  return list;
}

compute::WeightFormat shapeFormat(const BenchCommandOptions& options) {
  for (const compute::WeightFormatInfo& info : compute::weightFormats()) {
    if (options.format == info.name) return info.format;
  }
  return compute::WeightFormat::BF16;
}

/// `config`: the configuration of the new cache.
workbench::ModelBundle loadForBench(const Context& context, const BenchCommandOptions& options,
                                    const run::SessionConfig& config) {
  workbench::ModelOptions model = modelOptions(options.session);
  model.session = config;
  if (!options.shape.empty())
    return workbench::makeShapeBundle(options.shape, context.backends, model, shapeFormat(options));
  return workbench::loadModelWeights(modelDirectory(options.session), context.backends, model);
}

/// The measured rates of the machine: arithmetic and memory.
std::string limitsLine(const compute::MachineRates& machine) {
  std::string line = "\n  the machine: " + shortNumber(machine.flops) + " FLOP/s in f32";
  if (machine.bf16Flops > 0) line += ", " + shortNumber(machine.bf16Flops) + " in bf16";
  if (machine.byteOperations > 0) line += ", " + shortNumber(machine.byteOperations) + " in int8";
  return line + ", " + shortNumber(machine.bytesPerSecond) + " byte/s\n";
}

nlohmann::ordered_json toJson(const experiment::AbbaRow& row, const experiment::AbbaFloor& floor) {
  const auto timed = [](const experiment::AbbaCase& measured) {
    nlohmann::ordered_json json = summaryJson(measured.seconds, kMilliseconds);
    json["cached_tokens"] = measured.cachedTokens;
    return json;
  };
  return {{"document_tokens", row.documentTokens},
          {"prompt_tokens", row.promptTokens},
          {"expected_cached_tokens", row.expectedCachedTokens},
          {"cold_ms", timed(row.cold)},
          {"same_order_ms", timed(row.same)},
          {"swapped_order_ms", timed(row.swapped)},
          {"swapped_to_same", row.swappedToSame()},
          {"cold_to_same", row.coldToSame()},
          {"question_alone_ms", timed(row.alone)},
          {"keys_and_values_read_ms", floor.readSeconds * kMilliseconds},
          {"keys_and_values_multiplied_ms", floor.multiplySeconds * kMilliseconds},
          {"swapped_to_floor", row.swapped.seconds.median / floor.seconds()},
          {"swapped_to_bound", row.swapped.seconds.median / floor.boundSeconds()}};
}

ExitCode runAbba(const Context& context, const BenchCommandOptions& options) {
  run::SessionConfig config = options.session.config();
  if (options.session.settings.blockCount == 0)
    config.blockCount = experiment::abbaBlocks(options.abba, config.blockSize);
  workbench::ModelBundle bundle = loadForBench(context, options, config);
  trace::NoSink sink;
  const std::unique_ptr<run::Session> session = workbench::makeSession(bundle, config, sink);

  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  TextTable table({{"tokens/doc"},
                   {"prompt"},
                   {"cold ms"},
                   {"same ms"},
                   {"quartiles"},
                   {"swapped ms"},
                   {"quartiles"},
                   {"cached"},
                   {"swapped/same"},
                   {"cold/same"},
                   {"alone ms"},
                   {"read ms"},
                   {"multiplied ms"},
                   {"swapped/floor"},
                   {"swapped/bound"}});
  experiment::AbbaOptions abba = options.abba;
  abba.alone = true;
  const experiment::ModelCost cost =
      experiment::costOf(bundle.config, bundle.weightElementBytes(),
                         static_cast<double>(compute::sizeOf(*session->config().kvType)));
  const compute::RateMeter measureMachine = bundle.device.kind.meter(bundle.backendOptions());
  compute::MachineRates machine;
  for (const std::int32_t tokens : options.abba.documentTokens) {
    showProgress(context, "measuring " + counted(tokens, "token") + " a document");
    experiment::keepHighest(machine, measureMachine());
    const experiment::AbbaRow row =
        experiment::measureAbba(*session, bundle.config.vocabularySize, abba, tokens, context.stop);
    experiment::keepHighest(machine, measureMachine());
    const experiment::AbbaFloor floor =
        experiment::abbaFloor(row, options.abba.questionTokens, cost, machine);
    const auto milliseconds = [](double seconds) { return fixed(seconds * kMilliseconds, 2); };
    rows.push_back(toJson(row, floor));
    table.addRow(
        {std::to_string(tokens), std::to_string(row.promptTokens),
         fixed(row.cold.seconds.median * kMilliseconds, 2), fixed(row.same.seconds.median * kMilliseconds, 2),
         spread(row.same.seconds, kMilliseconds, 2), fixed(row.swapped.seconds.median * kMilliseconds, 2),
         spread(row.swapped.seconds, kMilliseconds, 2),
         std::to_string(std::min(row.same.cachedTokens, row.swapped.cachedTokens)),
         fixed(row.swappedToSame(), 3), fixed(row.coldToSame(), 1), milliseconds(floor.aloneSeconds),
         milliseconds(floor.readSeconds), milliseconds(floor.multiplySeconds),
         fixed(row.swapped.seconds.median / floor.seconds(), 2),
         fixed(row.swapped.seconds.median / floor.boundSeconds(), 2)});
  }
  writeReport(
      context, options, bundle,
      {{"documents", options.abba.documents},
       {"question_tokens", options.abba.questionTokens},
       {"rows", std::move(rows)}},
      "  time to the first token of " + std::to_string(options.abba.documents) +
          " documents and a new question of " + counted(options.abba.questionTokens, "token") +
          "; medians\n\n" + table.text() + limitsLine(machine) +
          "\n  Floor: time for the question alone, plus one read of the cached keys and values.\n  Bound: "
          "time for the question alone, plus the read or the f32 products, whichever takes longer.\n");
  return ExitCode::Fine;
}

std::vector<experiment::SpeedTest> speedTests(const BenchCommandOptions& options) {
  using Kind = experiment::SpeedTest::Kind;
  std::vector<experiment::SpeedTest> tests;
  for (const std::int32_t depth : options.depths) {
    if (options.promptTokens > 0) {
      tests.push_back({.kind = Kind::Prompt, .count = options.promptTokens, .depth = depth});
    }
    if (options.generatedTokens > 0) {
      tests.push_back({.kind = Kind::Generation, .count = options.generatedTokens, .depth = depth});
    }
  }
  return tests;
}

ExitCode runSpeed(const Context& context, const BenchCommandOptions& options) {
  run::SessionConfig config = options.session.config();
  config.blockCount = experiment::speedBlocks(speedTests(options), config.blockSize);
  const auto bundle = std::make_shared<workbench::ModelBundle>(loadForBench(context, options, config));
  CommandService service(context, ownModel(bundle, options.session));
  const jobs::SpeedRows found = service.measure<jobs::SpeedJob>(
      {.tests = speedTests(options), .repeats = options.repeats}, options.session.settings);

  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  TextTable table({{"test", TextTable::Align::Left},
                   {"tokens/s"},
                   {"quartiles"},
                   {"FLOP/s"},
                   {"of limit"},
                   {"byte/s"},
                   {"of limit"}});
  compute::MachineRates machine;
  for (const experiment::SpeedResult& result : found.rows) {
    nlohmann::ordered_json row;
    row["test"] = result.test.name();
    row["tokens_per_second"] = summaryJson(result.tokensPerSecond);
    row["flops_per_second"] = result.flopsPerSecond;
    row["bytes_per_second"] = result.bytesPerSecond;
    row["machine_flops_per_second"] = result.machine.flops;
    if (result.machine.bf16Flops > 0) row["machine_bf16_flops_per_second"] = result.machine.bf16Flops;
    if (result.machine.byteOperations > 0)
      row["machine_int8_operations_per_second"] = result.machine.byteOperations;
    row["arithmetic_limit"] = result.arithmeticLimit;
    row["machine_bytes_per_second"] = result.machine.bytesPerSecond;
    row["share_of_limit"] = result.share();
    rows.push_back(std::move(row));
    machine = result.machine;
    const auto percent = [](double share) { return fixed(share * 100, 0) + " %"; };
    table.addRow({result.test.name(), fixed(result.tokensPerSecond.median, 1),
                  spread(result.tokensPerSecond, 1, 1), shortNumber(result.flopsPerSecond),
                  percent(result.flopsPerSecond / result.arithmeticLimit) + " of " +
                      shortNumber(result.arithmeticLimit),
                  shortNumber(result.bytesPerSecond),
                  percent(result.bytesPerSecond / result.machine.bytesPerSecond) + " of " +
                      shortNumber(result.machine.bytesPerSecond)});
  }
  writeReport(context, options, *bundle, {{"rows", std::move(rows)}},
              table.text() + limitsLine(machine) +
                  "\n  The prompt test (pp) is compared with arithmetic, the generation test (tg) with "
                  "memory.\n  The limits of the machine were measured between the repeats.\n  More than 100 "
                  "% of the memory limit means "
                  "that the weights stay in the processor's cache.\n");
  return ExitCode::Fine;
}

void addSourceOptions(CLI::App& command, BenchCommandOptions& options) {
  addSettings(command, options.session.settings, {"model"});
  addShapeOption(command, options, "Use random weights");
  command
      .add_option("--format", options.format,
                  "Format of a shape's weights: " + formatList() + " (default: BF16)")
      ->check(oneOf(formatNames(), true))
      ->needs("--shape");
  addSettings(command, options.session.settings, {"device", "exact", "arithmetic", "threads", "kv_type"});
  command.add_flag("--json", options.json, "Write JSON, with all samples");
}

}  // namespace

BenchAction addAbbaBench(CLI::App& command, const Context& context) {
  const auto options = std::make_shared<BenchCommandOptions>();
  addSourceOptions(command, *options);
  experiment::AbbaOptions& abba = options->abba;
  addNumbers(command, "--sizes", abba.documentTokens, "Tokens per document, e.g. 64,512", {1, kMostTokens});
  addNumber(command, "--documents", abba.documents, "Documents", {2, 1000});
  addNumber(command, "--question", abba.questionTokens, "Tokens of the question", {1, kMostTokens});
  addNumber(command, "--repeats", abba.repeats, "Min warm runs per order", {1, kMostRepeats});
  addNumber(command, "--seconds", abba.seconds, "Min seconds of warm runs", {0.0, 86400.0});
  addNumber(command, "--cold-repeats", abba.coldRepeats, "Cold runs", {1, kMostRepeats});
  addSeedOption(command, abba.seed, "Seed of the token ids");
  addSettings(command, options->session.settings, {"block_size", "blocks"});
  addStoreOptions(command, options->session);
  return {options, [&context, options] { return runAbba(context, *options); }};
}

BenchAction addSpeedBench(CLI::App& command, const Context& context) {
  const auto options = std::make_shared<BenchCommandOptions>();
  addSourceOptions(command, *options);
  addSettings(command, options->session.settings, {"adapter"});
  command.get_option("--adapter")->excludes("--shape");
  addNumber(command, "-p,--prompt", options->promptTokens, "Tokens of the prompt test; 0: off",
            {0, kMostTokens});
  addNumber(command, "-n,--generate", options->generatedTokens, "Tokens of the generation test; 0: off",
            {0, kMostTokens});
  addNumbers(command, "-d,--depth", options->depths, "Tokens of context before the test, e.g. 0,512",
             {0, kMostTokens});
  addNumber(command, "-r,--repeats", options->repeats, "Timed runs per test", {1, kMostRepeats});
  return {options, [&context, options] { return runSpeed(context, *options); }};
}

void addBench(CLI::App& app, Context& context) {
  CLI::App* group = app.add_subcommand("bench", "Measure the engine on this machine");
  group->footer("Example:\n  spanq bench abba --shape 21m\n");
  group->require_subcommand(1);
  const std::map<std::string, BenchAction (*)(CLI::App&, const Context&)> add{
      {"run", addRunBench},       {"abba", addAbbaBench},      {"speed", addSpeedBench},
      {"start", addStartBench},   {"cache", addCacheBench},    {"ops", addOpsBench},
      {"needle", addNeedleBench}, {"sources", addSourcesBench}};
  for (const jobs::Bench& bench : jobs::benches()) {
    CLI::App* command = group->add_subcommand(bench.name, bench.title);
    const std::string about =
        bench.experiment == nullptr ? "" : bench.experiment->brief + std::string("\n\n");
    command->footer(about + "Example:\n  spanq bench " + bench.name + ' ' + bench.example + '\n');
    const BenchAction action = bench.experiment == nullptr
                                   ? add.at(bench.name)(*command, context)
                                   : addExperimentBench(*command, context, *bench.experiment);
    command->callback([&context, action] {
      action.options->session.check();
      if (action.check) action.check();
      context.action = action.run;
    });
  }
}

}  // namespace spanscope::cli
