// SPDX-License-Identifier: GPL-3.0-or-later
// `spanq model get`: lists and downloads the files of a model of a hub.
#include "app/cli/bench_report.h"
#include "app/cli/command.h"
#include "app/cli/session_options.h"
#include "app/cli/terminal_output.h"
#include "engine/base/error.h"
#include "engine/compute/backends.h"
#include "engine/remote/http/http_client.h"
#include "engine/remote/hub/hub_client.h"
#include "engine/remote/hub/hub_download.h"
#include "engine/remote/secrets/secret_store.h"
#include "engine/workbench/finder/hub_models.h"
#include "engine/workbench/finder/model_finder.h"
#include "engine/workbench/settings.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <istream>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <variant>
#include <vector>

namespace spanscope::cli {
namespace {

using Json = nlohmann::ordered_json;

struct GetOptions {
  std::string name;
  std::string revision = "main";
  workbench::RunSettings settings = commandSettings();  ///< only the device
  bool list = false;
  bool keepsToken = false;
  bool json = false;
};

using workbench::hubSizeText;

/// Shows the progress at most ten times a second.
class ProgressLine {
 public:
  explicit ProgressLine(const Context& context) : m_context(context) {}
  ~ProgressLine() { showProgress(m_context, ""); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void show(const remote::HubProgress& now) {
    constexpr std::chrono::milliseconds kPause{100};
    const Clock::time_point time = Clock::now();
    if (now.file == m_file && !now.waitsForOther && time - m_last < kPause) return;
    if (m_file.empty()) {
      m_begin = time;
      m_first = now.bytes;
    }
    m_file = now.file;
    m_last = time;
    if (now.waitsForOther) {
      showProgress(m_context, "waiting for another program that downloads " + now.file);
      return;
    }
    const double seconds = std::chrono::duration<double>(time - m_begin).count();
    const double rate = seconds > 1 ? static_cast<double>(now.bytes - m_first) / seconds : 0;
    std::string text = std::to_string(now.number) + "/" + std::to_string(now.files) + " " + now.file + ": " +
                       (now.bytes == 0 ? "0 bytes" : hubSizeText(now.bytes)) + " of " +
                       hubSizeText(now.total);
    if (rate > 0) text += ", " + hubSizeText(static_cast<std::uint64_t>(rate)) + "/s";
    showProgress(m_context, text);
  }

 private:
  using Clock = std::chrono::steady_clock;
  const Context& m_context;
  std::string m_file;
  Clock::time_point m_begin{};
  Clock::time_point m_last{};
  std::uint64_t m_first = 0;
};

/// A request to the hub with everything that a report needs.
struct Request {
  const GetOptions& options;
  remote::HubPlace place;
  remote::HubListing listing;
  remote::HubModel model;  ///< the model to get
  std::uint64_t memory = 0;
  std::string device;
};

Json jsonOf(const Request& request) {
  Json json;
  json["repository"] = request.listing.repository;
  json["revision"] = request.listing.revision;
  json["commit"] = request.listing.commit;
  json["device_memory_bytes"] = request.memory == 0 ? Json(nullptr) : Json(request.memory);
  json["models"] = Json::array();
  for (const remote::HubModel& model : remote::hubModels(request.listing)) {
    json["models"].push_back({{"file", model.name.empty() ? Json(nullptr) : Json(model.name)},
                              {"bytes", model.bytes},
                              {"weight_bytes", model.weightBytes},
                              {"fits", request.memory == 0 || model.weightBytes == 0
                                           ? Json(nullptr)
                                           : Json(remote::fitsMemory(model.weightBytes, request.memory))},
                              {"chosen", model.name == request.model.name}});
  }
  json["files"] = Json::array();
  for (const remote::HubFile& file : request.listing.files) {
    const bool isTaken = std::ranges::find(request.model.files, file.name) != request.model.files.end();
    json["files"].push_back(
        {{"name", file.name},
         {"bytes", file.bytes},
         {"taken", isTaken},
         {"on_this_machine", remote::hubFileState(request.place, request.listing, file).isWhole}});
  }
  return json;
}

/// Writes the models with their memory, then the files.
void writeList(const Context& context, const Request& request) {
  std::ostream& out = context.streams.out;
  const std::vector<remote::HubModel> models = remote::hubModels(request.listing);
  if (!models.empty()) {
    TextTable table({{"model", TextTable::Align::Left},
                     {"to get"},
                     {"weights"},
                     {"fits " + request.device, TextTable::Align::Left},
                     {"chosen", TextTable::Align::Left}});
    for (const remote::HubModel& model : models) {
      const bool isKnown = request.memory > 0 && model.weightBytes > 0;
      table.addRow({model.name.empty() ? "safetensors" : model.name, hubSizeText(model.bytes),
                    hubSizeText(model.weightBytes),
                    !isKnown                                                ? "–"
                    : remote::fitsMemory(model.weightBytes, request.memory) ? "yes"
                                                                            : "no",
                    model.name == request.model.name ? "yes" : ""});
    }
    out << table.text() << '\n';
  }
  TextTable table({{"file", TextTable::Align::Left},
                   {"size"},
                   {"taken", TextTable::Align::Left},
                   {"on this machine", TextTable::Align::Left}});
  for (const remote::HubFile& file : request.listing.files) {
    const bool isTaken = std::ranges::find(request.model.files, file.name) != request.model.files.end();
    const bool isHere = remote::hubFileState(request.place, request.listing, file).isWhole;
    table.addRow({file.name, hubSizeText(file.bytes), isTaken ? "yes" : "", isHere ? "yes" : ""});
  }
  out << table.text();
}

/// Stores a token. Returns false, after a message, if there is none.
bool keepToken(const Context& context, remote::HubPlace& place) {
  std::string token;
  std::getline(context.streams.in, token);
  while (!token.empty() && (token.back() == '\r' || token.back() == ' ')) token.pop_back();
  std::optional<Error> problem = remote::problemOfKey(token);
  if (token.empty()) problem = errorAt("", "no token", "a token in its first line");
  if (problem) {
    problem->file = "standard input";
    context.streams.err << problem->message() << '\n';
    return false;
  }
  remote::keepSecret(workbench::hubSecretName(place), token, context.stop);
  place.token = token;
  return true;
}

ExitCode get(const Context& context, const GetOptions& options) {
  const auto name = remote::readHubName(options.name);
  if (const auto* problem = std::get_if<Error>(&name)) throw Failure(*problem);
  const auto& [repository, file] = std::get<remote::HubName>(name);
  try {
    remote::HttpClient client;
    Request request{.options = options,
                    .place = workbench::hubPlace(workbench::processEnvironment()),
                    .listing = {},
                    .model = {},
                    .device = {}};
    if (options.keepsToken && !keepToken(context, request.place)) return ExitCode::WrongInput;
    const compute::Device device = context.backends.choose(options.settings.device).device;
    request.memory = device.memoryBytes;
    request.device = device.name;
    showProgress(context, "asking " + request.place.endpoint);
    {
      const std::shared_ptr<void> atEnd(nullptr, [&context](void*) { showProgress(context, ""); });
      request.listing =
          workbench::listHubModel(client, request.place, repository, options.revision, context.stop);
    }
    if (context.stop.stop_requested()) return ExitCode::Stopped;
    const bool hasModels = !remote::hubModels(request.listing).empty();
    if (!options.list || !file.empty() || hasModels)
      request.model = remote::chosenModel(request.listing, file, request.memory);
    if (options.list) {
      if (options.json)
        context.streams.out << jsonText(jsonOf(request)) << '\n';
      else
        writeList(context, request);
      return ExitCode::Fine;
    }
    if (!remote::fitsMemory(request.model.weightBytes, request.memory)) {
      context.streams.err << "warning: " << hubSizeText(request.model.weightBytes)
                          << " of weights may not fit into the " << hubSizeText(request.memory) << " of "
                          << request.device << '\n';
    }
    std::optional<std::filesystem::path> path;
    {
      ProgressLine line(context);
      path = workbench::getHubModel(
          client, request.place, request.listing, request.model,
          [&line](const remote::HubProgress& now) { line.show(now); }, context.stop);
    }
    if (!path) return ExitCode::Stopped;
    if (options.json) {
      Json json = jsonOf(request);
      json["path"] = path->string();
      context.streams.out << jsonText(json) << '\n';
    } else {
      context.streams.out << path->string() << '\n';
    }
    return ExitCode::Fine;
  } catch (const Failure& failure) {
    if (context.stop.stop_requested()) return ExitCode::Stopped;
    context.streams.err << failure.what() << '\n';
    return ExitCode::RunFailed;
  }
}

}  // namespace

void addModelGet(CLI::App& group, Context& context) {
  const auto options = std::make_shared<GetOptions>();
  CLI::App* command = group.add_subcommand(
      "get", "Download a model from Hugging Face into the cache of Hugging Face, and write the path");
  command->footer(
      "Examples:\n  spanq model get HuggingFaceTB/SmolLM2-135M-Instruct --list\n"
      "  spanq model get Qwen/Qwen3-0.6B-GGUF:Q8_0\n");
  command
      ->add_option("NAME", options->name,
                   "ORG/NAME, ORG/NAME:FILE, or ORG/NAME:Q4_K_M for the GGUF file of this format. Without a "
                   "file: the safetensors files, else the best GGUF file that fits into memory")
      ->required();
  command->add_option("--revision", options->revision, "Branch, tag or commit")->capture_default_str();
  command->add_flag("--list", options->list, "Only list the models and the files, with their sizes");
  command->add_flag("--keep-token", options->keepsToken,
                    "Store a token in the desktop's secret store; the token is the first line of standard "
                    "input");
  addSettings(*command, options->settings, {"device"});
  command->add_flag("--json", options->json, "Write JSON");
  command->callback(
      [&context, options] { context.action = [&context, options] { return get(context, *options); }; });
}

}  // namespace spanscope::cli
