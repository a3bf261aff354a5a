// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/remote/hub/hub_client.h"

#include "engine/base/ascii.h"
#include "engine/base/json_text.h"
#include "engine/base/utf8.h"
#include "engine/query/shown_text.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <optional>
#include <utility>

namespace spanscope::remote {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMostFiles = 20'000;
constexpr std::size_t kCommitDigits = 40;
constexpr std::uint64_t kMostFileBytes = std::uint64_t{1} << 50U;
constexpr const char* kErrorCode = "x-error-code";
constexpr const char* kErrorMessage = "x-error-message";

bool isHex(std::string_view text, std::size_t digits) {
  return text.size() == digits && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

bool isNamePart(std::string_view part) {
  constexpr std::size_t kMostCharacters = 96;
  const auto isUsual = [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.';
  };
  return !part.empty() && part.size() <= kMostCharacters && std::ranges::all_of(part, isUsual) &&
         part.front() != '.' && part.front() != '-' && part.back() != '.' && part.back() != '-' &&
         part.find("..") == std::string_view::npos && part.find("--") == std::string_view::npos;
}

std::string shown(std::string_view text) {
  constexpr std::size_t kMostCharacters = 120;
  return "\"" + query::cutText(toValidUtf8(text), kMostCharacters) + "\"";
}

/// An address before and after its '?', without a fragment.
std::pair<std::string, std::string> splitAddress(const std::string& url) {
  const std::string whole = url.substr(0, url.find('#'));
  const std::size_t mark = whole.find('?');
  if (mark == std::string::npos) return {whole, {}};
  return {whole.substr(0, mark), whole.substr(mark + 1)};
}

std::string sizeText(const Json& value) {
  return shown(compactJson(value));
}

/// Names of files beside the weights that a model needs.
constexpr std::array kSmallFiles = {"config.json",         "generation_config.json",
                                    "tokenizer.json",      "tokenizer_config.json",
                                    "tokenizer.model",     "special_tokens_map.json",
                                    "added_tokens.json",   "vocab.json",
                                    "vocab.txt",           "merges.txt",
                                    "chat_template.jinja", "chat_template.json",
                                    "modules.json",        "1_Pooling/config.json"};
constexpr const char* kWhole = "model.safetensors";
constexpr const char* kIndex = "model.safetensors.index.json";

std::optional<HubModel> folderOf(const HubListing& listing) {
  HubModel model;
  const auto take = [&](const HubFile& file, bool isWeights) {
    model.files.push_back(file.name);
    model.bytes += file.bytes;
    model.weightBytes += isWeights ? file.bytes : 0;
  };
  for (const char* name : kSmallFiles) {
    if (const HubFile* file = listing.find(name)) take(*file, false);
  }
  if (const HubFile* whole = listing.find(kWhole)) {
    take(*whole, true);
    return model;
  }
  const HubFile* index = listing.find(kIndex);
  if (index == nullptr) return std::nullopt;
  take(*index, false);
  for (const HubFile& file : listing.files) {
    const bool isPart = file.name.starts_with("model") && file.name.ends_with(".safetensors") &&
                        file.name.find('/') == std::string::npos;
    if (isPart) take(file, true);
  }
  return model;
}

/// The ending "-00002-of-00003.gguf" of a part.
struct GgufPart {
  std::string stem;  ///< the name before the ending
  int part = 1;
  int parts = 1;
};

GgufPart partOf(const std::string& name) {
  constexpr std::size_t kEnding = 20;
  const std::string_view stem = std::string_view(name).substr(0, name.size() - 5);
  const auto number = [](std::string_view digits) {
    int value = 0;
    for (const char digit : digits) {
      if (digit < '0' || digit > '9') return 0;
      value = 10 * value + (digit - '0');
    }
    return value;
  };
  if (name.size() > kEnding) {
    const std::string_view ending = std::string_view(name).substr(name.size() - kEnding);
    if (ending[0] == '-' && ending.substr(6, 4) == "-of-") {
      const int part = number(ending.substr(1, 5));
      const int parts = number(ending.substr(10, 5));
      if (part >= 1 && part <= parts) return {name.substr(0, name.size() - kEnding), part, parts};
    }
  }
  return {std::string(stem), 1, 1};
}

std::string baseName(std::string_view path) {
  return std::string(path.substr(path.rfind('/') + 1));
}

std::vector<HubModel> ggufModels(const HubListing& listing) {
  std::map<std::string, std::map<int, const HubFile*>> parts;
  std::map<std::string, int> counts;
  for (const HubFile& file : listing.files) {
    const std::string base = inSmallLetters(baseName(file.name));
    if (!base.ends_with(".gguf") || base.starts_with("mmproj") || base.find("imatrix") != std::string::npos)
      continue;
    const GgufPart part = partOf(file.name);
    parts[part.stem][part.part] = &file;
    counts[part.stem] = part.parts;
  }
  std::vector<HubModel> models;
  for (const auto& [stem, files] : parts) {
    if (static_cast<int>(files.size()) != counts[stem]) continue;
    HubModel& model = models.emplace_back();
    model.name = files.begin()->second->name;
    for (const auto& [number, file] : files) {
      model.files.push_back(file->name);
      model.bytes += file->bytes;
    }
    model.weightBytes = model.bytes;
  }
  std::ranges::stable_sort(models, {}, &HubModel::bytes);
  return models;
}

bool isUnpacked(const HubModel& model) {
  const std::string stem = inSmallLetters(baseName(partOf(model.name).stem));
  return stem.ends_with("f16") || stem.ends_with("f32");
}

/// Whether the name of a GGUF file ends in this tag: "Q4_K_M" in "model-Q4_K_M.gguf".
bool hasTag(const HubModel& model, std::string_view tag) {
  const std::string stem = inSmallLetters(baseName(partOf(model.name).stem));
  const std::string end = inSmallLetters(tag);
  if (end.empty() || !stem.ends_with(end)) return false;
  if (stem.size() == end.size()) return true;
  const char before = stem[stem.size() - end.size() - 1];
  return before == '-' || before == '.' || before == '_';
}

}  // namespace

const HubFile* HubListing::find(std::string_view name) const {
  const auto found = std::ranges::find(files, name, &HubFile::name);
  return found == files.end() ? nullptr : &*found;
}

bool isSafeHubPath(std::string_view path) {
  constexpr std::size_t kMostBytes = 1024;
  constexpr std::size_t kMostPartBytes = 255;
  if (path.empty() || path.size() > kMostBytes || !isValidUtf8(path)) return false;
  const auto isBad = [](unsigned char c) { return c < ' ' || c == '\x7f' || c == '\\'; };
  if (std::ranges::any_of(path, isBad)) return false;
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    const std::string_view part = path.substr(begin, end - begin);
    if (part.empty() || part == "." || part == ".." || part.size() > kMostPartBytes) return false;
    begin = end + 1;
  }
  return true;
}

std::string escapedPath(std::string_view text, bool keepsSlashes) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string escaped;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool stays = byte < 0x80 && (std::isalnum(byte) != 0 || c == '-' || c == '_' || c == '.' ||
                                       c == '~' || (c == '/' && keepsSlashes));
    if (stays) {
      escaped += c;
    } else {
      escaped += '%';
      escaped += kDigits[byte >> 4U];
      escaped += kDigits[byte & 15U];
    }
  }
  return escaped;
}

std::variant<HubName, Error> readHubName(std::string_view text) {
  const auto refuse = [&] {
    return errorAt("name", text.empty() ? "no name" : shown(text),
                   /*id:hub-name-form*/ "ORG/NAME or ORG/NAME:FILE, as on the page of the model");
  };
  std::string_view rest = text;
  const auto drop = [&rest](std::string_view beginning) {
    if (!rest.starts_with(beginning)) return false;
    rest.remove_prefix(beginning.size());
    return true;
  };
  drop("https://");
  const bool isAddress = drop("huggingface.co/") || drop("hf.co/");
  HubName name;
  if (const std::size_t colon = rest.find(':'); colon != std::string_view::npos) {
    name.file = rest.substr(colon + 1);
    rest = rest.substr(0, colon);
    if (!isSafeHubPath(name.file)) return refuse();
  }
  while (isAddress && rest.ends_with('/')) rest.remove_suffix(1);
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= rest.size();) {
    const std::size_t end = std::min(rest.find('/', begin), rest.size());
    parts.push_back(rest.substr(begin, end - begin));
    begin = end + 1;
  }
  // The address of a file's page is ORG/NAME/blob/main/FILE.
  constexpr std::size_t kBeforeFile = 4;
  if (isAddress && parts.size() > 2) {
    const bool isFile = parts.size() > kBeforeFile && (parts[2] == "blob" || parts[2] == "resolve");
    if (parts.size() <= 3 || parts[3] != "main" || (!isFile && parts[2] != "tree")) return refuse();
    if (isFile) {
      name.file = rest.substr(static_cast<std::size_t>(parts[kBeforeFile].data() - rest.data()));
      if (!isSafeHubPath(name.file)) return refuse();
    }
    parts.resize(2);
  }
  if (parts.size() > 2 || !std::ranges::all_of(parts, isNamePart)) return refuse();
  name.repository = parts[0];
  if (parts.size() > 1) name.repository += "/" + std::string(parts[1]);
  return name;
}

HttpReply sendToHub(HttpClient& client, const HubPlace& place, const HubRequest& request,
                    const std::stop_token& stop, const HttpReceiver& receive) {
  const std::string hub = originOf(place.endpoint);
  std::string url = request.url;
  std::string query = request.query;
  for (int hops = 0;; ++hops) {
    const auto address = readServerAddress(url);
    if (const auto* problem = std::get_if<Error>(&address)) {
      // The address may contain a signature, so the message names the server only.
      throw Failure({originOf(request.url), "address", problem->found, problem->expected});
    }
    const bool isHub = originOf(url) == hub;
    const bool isPrivate = url.starts_with("https://") || std::get<ServerAddress>(address).isLoopback;
    HttpAccess access{.key = isHub && isPrivate ? place.token : std::string(),
                      .headLines = request.headLines,
                      .limits = place.limits};
    // A compressed answer cannot be continued after a break.
    access.headLines.emplace_back("Accept-Encoding: identity");
    access.headLines.emplace_back("User-Agent: spanscope");
    access.limits.bytes = request.mostBytes;
    HttpRequest sent{.url = url, .query = query};
    sent.isHead = request.isHead;
    sent.wanted = request.wanted;
    sent.wanted.insert(sent.wanted.end(), {kErrorCode, kErrorMessage});
    sent.begins = request.begins;
    HttpReply reply;
    try {
      reply = client.send(sent, access, stop, receive);
    } catch (const Failure& failure) {
      Error error = failure.error();
      if (error.file != url || !error.place.empty()) throw;
      error.expected =
          /*id:hub-answer*/ "Check the network, or choose a model of this machine.";
      throw Failure(error);
    }
    if (reply.isStopped || reply.status < 300 || reply.status >= 400 || reply.redirect.empty()) return reply;
    const auto [target, targetQuery] = splitAddress(reply.redirect);
    const std::string origin = originOf(target);
    if (hops == kMostRedirects) {
      throw Failure({originOf(request.url), "redirect",
                     "more than " + std::to_string(kMostRedirects) +
                         /*id:hub-redirects*/ " redirects of one request",
                     "the file itself"});
    }
    if (url.starts_with("https://") && !target.starts_with("https://")) {
      throw Failure({originOf(request.url), "redirect", "a redirect from https to " + shown(origin),
                     "a redirect to an https address"});
    }
    if (request.isHead && origin != hub) return reply;
    url = target;
    query = targetQuery;
  }
}

void refuseHubReply(const HubPlace& place, const std::string& repository, const std::string& what,
                    const HttpReply& reply) {
  const auto header = [&reply](const char* name) {
    const auto found = reply.headers.find(name);
    return found == reply.headers.end() ? std::string() : found->second;
  };
  const std::string code = header(kErrorCode);
  const bool hasToken = !place.token.empty();
  const std::string page = place.endpoint + "/" + repository;
  const std::string tokenHelp = "in HF_TOKEN, in the token file of hf auth login, or in the secret store";
  if (code == "GatedRepo" || (reply.status == 403 && code != "RepoNotFound")) {
    throw HubAccessFailure(
        {what,
         {},
         hasToken ? /*id:hub-gated-token*/ "This model is gated, and the account of your token has no access."
                  : /*id:hub-gated*/ "This model is gated, and Spanscope has no token of an account.",
         "Accept the conditions at " + page + ", and put a token of this account " + tokenHelp + "."});
  }
  if (reply.status == 401) {
    throw HubAccessFailure({what,
                            {},
                            hasToken ? /*id:hub-private-token*/ "Your token cannot read a model of this name."
                                     : /*id:hub-private*/ "There is no public model of this name.",
                            "Check the name, or put a token that can read the model " + tokenHelp + "."});
  }
  if (code == "RevisionNotFound")
    throw Failure(
        {what, {}, /*id:hub-no-revision*/ "This revision does not exist.", "a branch, a tag or a commit"});
  if (code == "EntryNotFound")
    throw Failure({what, {}, /*id:hub-no-file*/ "This file does not exist.", "a file of the list (--list)"});
  if (reply.status == 404) {
    throw Failure({what,
                   {},
                   /*id:hub-no-model*/ "There is no such model at " + place.endpoint + ".",
                   "Check the name: ORG/NAME, as on the page of the model."});
  }
  const std::string said = header(kErrorMessage).empty() ? reply.body : header(kErrorMessage);
  throw Failure({what, {}, statusSentence(reply.status, shownReply(withoutKey(said, place.token))), {}});
}

HubListing listHubFiles(HttpClient& client, const HubPlace& place, const std::string& repository,
                        const std::string& revision, const std::stop_token& stop) {
  if (!isSafeHubPath(revision))
    throw Failure({repository, "revision", shown(revision), "a branch, a tag or a commit"});
  HubRequest request{.url = place.endpoint + "/api/models/" + escapedPath(repository, true) + "/revision/" +
                            escapedPath(revision, false),
                     .query = "blobs=true"};
  const HttpReply reply = sendToHub(client, place, request, stop);
  if (reply.isStopped) return {};
  if (reply.status != 200) refuseHubReply(place, repository, repository, reply);
  const Json json = Json::parse(reply.body, nullptr, false);
  const auto refuse = [&](const std::string& at, const std::string& found, const std::string& expected) {
    throw Failure({place.endpoint, at, found, expected});
  };
  if (!json.is_object()) {
    refuse("list of files", shownReply(withoutKey(reply.body, place.token)),
           /*id:hub-answer-form*/ "a JSON object, as Hugging Face's hub sends");
  }
  HubListing listing{.repository = repository, .revision = revision, .commit = {}, .files = {}};
  if (const auto commit = json.find("sha"); commit != json.end() && commit->is_string())
    listing.commit = commit->get<std::string>();
  if (!isHex(listing.commit, kCommitDigits))
    refuse("/sha", shown(listing.commit), "the 40 hexadecimal digits of a commit");
  const auto siblings = json.find("siblings");
  if (siblings == json.end() || !siblings->is_array())
    refuse("/siblings", "no list", "the files of the model");
  if (siblings->size() > kMostFiles)
    refuse("/siblings", std::to_string(siblings->size()) + " files", "at most " + std::to_string(kMostFiles));
  for (const Json& sibling : *siblings) {
    const auto name = sibling.is_object() ? sibling.find("rfilename") : sibling.end();
    if (!sibling.is_object() || name == sibling.end() || !name->is_string())
      refuse("/siblings", sizeText(sibling), "an object with the name of a file");
    HubFile file{.name = name->get<std::string>()};
    // No model needs a file with such a name.
    if (!isSafeHubPath(file.name)) continue;
    if (const auto size = sibling.find("size"); size != sibling.end() && !size->is_null()) {
      if (!size->is_number_unsigned() || size->get<std::uint64_t>() > kMostFileBytes)
        refuse("/siblings/" + file.name, sizeText(*size), "the size of a file in bytes");
      file.bytes = size->get<std::uint64_t>();
    }
    listing.files.push_back(std::move(file));
  }
  return listing;
}

std::vector<HubModel> hubModels(const HubListing& listing) {
  std::vector<HubModel> models;
  if (std::optional<HubModel> folder = folderOf(listing)) models.push_back(*std::move(folder));
  for (HubModel& model : ggufModels(listing)) models.push_back(std::move(model));
  return models;
}

bool fitsMemory(std::uint64_t weightBytes, std::uint64_t memory) {
  constexpr std::uint64_t kShares = 10;
  return weightBytes == 0 || memory == 0 || weightBytes <= memory / kShares * (kShares - 1);
}

std::size_t recommendedModel(const std::vector<HubModel>& models, std::uint64_t memory) {
  const auto rank = [](const HubModel& model) {
    return model.name.empty() ? 0 : hasTag(model, "Q4_K_M") ? 1 : !isUnpacked(model) ? 2 : 3;
  };
  std::optional<std::size_t> best;
  std::size_t smallest = 0;
  for (std::size_t i = 0; i < models.size(); ++i) {
    if (models[i].weightBytes < models[smallest].weightBytes) smallest = i;
    if (!fitsMemory(models[i].weightBytes, memory)) continue;
    const bool isBetter =
        !best || rank(models[i]) < rank(models[*best]) ||
        (rank(models[i]) == rank(models[*best]) && models[i].weightBytes > models[*best].weightBytes);
    if (isBetter) best = i;
  }
  return best.value_or(smallest);
}

HubModel chosenModel(const HubListing& listing, const std::string& file, std::uint64_t memory) {
  const std::vector<HubModel> models = hubModels(listing);
  if (file.empty()) {
    if (models.empty()) {
      throw Failure({listing.repository,
                     {},
                     /*id:hub-no-weights*/ "neither model.safetensors nor a GGUF file",
                     "a model with one of these files"});
    }
    return models[recommendedModel(models, memory)];
  }
  const HubModel* tagged = nullptr;
  for (const HubModel& model : models) {
    if (model.name.empty()) continue;
    if (std::ranges::find(model.files, file) != model.files.end()) return model;
    if (hasTag(model, file) && (tagged == nullptr || model.name.size() < tagged->name.size()))
      tagged = &model;
  }
  if (tagged != nullptr) return *tagged;
  if (const HubFile* single = listing.find(file))
    return {.name = file, .files = {file}, .bytes = single->bytes, .weightBytes = 0};
  throw Failure({listing.repository,
                 {},
                 /*id:hub-no-such-file*/ "no file " + shown(file),
                 "a file of the list (--list)"});
}

}  // namespace spanscope::remote
